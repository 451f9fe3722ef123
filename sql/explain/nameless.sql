-- grain: one row: how many shipment records were quarantined whole for an unusable id, plus pages that could not be read
-- source: ops.quarantine, as published
select count(*) as records
from ops.quarantine
where
    (quarantine.object = 'Shipment' and quarantine.object_id is null)
    or (quarantine.object = 'Page' and quarantine.path = '$')
