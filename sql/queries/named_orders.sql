-- grain: one row per order and name in $names that is its id, unique_id or order_ref
-- source: orders
select
    names.name,
    orders.id,
    orders.unique_id,
    orders.order_ref
from (select unnest($names::varchar[]) as name) as names
inner join orders
    on names.name in (orders.id::varchar, orders.unique_id, orders.order_ref)
order by names.name, orders.id
