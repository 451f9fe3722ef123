-- grain: how many records of shipments were put aside whole because their id could not be used, and pages that could not be read
-- source: ops.quarantine, as published
select count(*) as records
from ops.quarantine
where
    (quarantine.object = 'Shipment' and quarantine.object_id is null)
    or (quarantine.object = 'Page' and quarantine.path = '$')
