-- grain: one row per value of the shipment that did not fit its type, or the whole record if it could not be used
-- source: ops.quarantine, as published
select
    quarantine.path,
    quarantine.why,
    quarantine._window_id as window_id,
    quarantine._page as page,
    quarantine._extracted_at as extracted_at
from ops.quarantine
where quarantine.object = 'Shipment' and quarantine.object_id = $id
order by quarantine._extracted_at, quarantine.page_key, quarantine.position
