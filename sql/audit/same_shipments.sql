-- grain: one row per shipment of the slice that the tables hold in the same version
-- source: audit_slice
create or replace temp table audit_shipments as
select id
from audit_slice
where verdict is null
