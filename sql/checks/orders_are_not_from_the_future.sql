-- severity: warn
-- blocking: no
-- table: orders
-- description: No order was created or changed more than a day after it was read.
-- wrong: {count} [order was|orders were] created or changed more than a day after [it was|they were] read
-- named: {id}
-- notes: in microseconds, because adding an interval to a time with a zone looks up the zone for each row
select
    id,
    created_at,
    updated_at,
    _extracted_at
from orders
where greatest(epoch_us(created_at), epoch_us(updated_at)) > epoch_us(_extracted_at) + 86400000000
