-- grain: one row a shipment of the slice that the tables have in the same version
-- source: audit_slice
create or replace temp table audit_shipments as
select id
from audit_slice
where verdict is null
