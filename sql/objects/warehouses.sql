-- grain: one row per warehouse in the tables and name or abbreviation of it
-- keys: key, id
-- source: warehouses
with named as (
    select
        warehouses."name" as key,
        warehouses.id,
        warehouses._extracted_at
    from warehouses
    union
    select
        warehouses.abbreviation as key,
        warehouses.id,
        warehouses._extracted_at
    from warehouses
)

select
    'warehouses' as kind,
    false as is_unique,
    nfc_normalize(named.key) as key,
    named.id,
    'Warehouse' as "type",
    null as status,
    null as belongs_to,
    null as created_at,
    named._extracted_at
from named
