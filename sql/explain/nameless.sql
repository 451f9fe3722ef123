-- grain: one row: the number of shipment records quarantined whole for an unusable id, plus unreadable pages
-- source: ops.quarantine, as published
select count(*) as records
from ops.quarantine
where
    (quarantine.object = 'Shipment' and quarantine.object_id is null)
    or (quarantine.object = 'Page' and quarantine.path = '$')
