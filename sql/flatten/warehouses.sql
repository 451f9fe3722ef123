-- grain: one row per warehouse
-- keys: id
-- source: included.Warehouse (spec 2.5)
with stated as (
    select
        _page,
        object as warehouse
    from page."Warehouse"
)

select
    warehouse.id,
    warehouse."name",
    warehouse.abbreviation,
    warehouse.is_active,
    _page
from stated
