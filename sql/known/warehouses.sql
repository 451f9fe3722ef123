-- grain: one row per warehouse and name or abbreviation of it in $keys
-- keys: key, id
-- source: warehouses
with named as (
    select
        warehouses."name" as key,
        warehouses.id
    from warehouses
    union
    select
        warehouses.abbreviation as key,
        warehouses.id
    from warehouses
)

select
    named.key,
    named.id,
    'Warehouse' as "type",
    null as status,
    null as belongs_to,
    null as created_at
from named
where named.key in (select unnest($keys))
order by named.id
