-- grain: one row per shipment of the slice that the tables have in the same version
-- source: audit_slice
-- notes: leaves out shipments with a value that did not fit its type, which is reported as quarantined
create or replace temp table audit_shipments as
select id
from audit_slice
where verdict is null and id not in (select audit_misfits.id from audit_misfits where audit_misfits.root = 'shipments')
