-- grain: one row per period in which the shipment was missing from the service, oldest first
-- source: ops.missing_shipments, ops.loads and ops.quarantine, as published
select
    missing.window_id,
    loads.run_id,
    missing.missing_since,
    missing.returned_at,
    exists (
        select 1
        from ops.quarantine
        where
            quarantine.object = 'Shipment'
            and quarantine.object_id = missing.shipment_id
            and quarantine._window_id = missing.window_id
            and quarantine.why = $says_deleted
    ) as is_stub
from ops.missing_shipments as missing
left join ops.loads on missing.window_id = loads.window_id
where missing.shipment_id = $id
order by missing.missing_since
