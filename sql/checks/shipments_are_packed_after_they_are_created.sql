-- severity: warn
-- blocking: no
-- table: shipments
-- description: No shipment was packed before it was created.
-- wrong: {count} [shipment was|shipments were] packed before [it was|they were] created
-- named: {id}
select
    id,
    created_at,
    packed_at
from shipments
where packed_at < created_at
