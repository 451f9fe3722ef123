-- severity: warn
-- blocking: no
-- table: orders
-- asked: the rows of orders
-- description: No order was created or changed more than a day after it was read.
select
    id,
    created_at,
    updated_at,
    _extracted_at
from orders
where greatest(created_at, updated_at) > _extracted_at + interval 1 day
