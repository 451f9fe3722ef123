-- severity: warn
-- blocking: no
-- table: shipments
-- asked: the rows of shipments
-- description: No shipment was created or changed more than a day after it was read.
select
    id,
    created_at,
    updated_at,
    _extracted_at
from shipments
where greatest(created_at, updated_at) > _extracted_at + interval 1 day
