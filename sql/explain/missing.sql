-- grain: one row per occasion on which the shipment was proven missing from the service, oldest first
-- source: ops.missing_shipments and ops.audits, as published
select
    missing.window_id,
    audits.run_id,
    missing.missing_since,
    missing.returned_at
from ops.missing_shipments as missing
left join ops.audits on missing.window_id = audits.window_id
where missing.shipment_id = $id
order by missing.missing_since
