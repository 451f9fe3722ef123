-- grain: one row a warehouse
-- keys: id
-- source: included.Warehouse (spec 2.5)
with stated as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("Warehouse") as warehouse
    from page
)

select
    warehouse.id,
    warehouse."name",
    warehouse.abbreviation,
    warehouse.is_active,
    _window_id,
    _page,
    _extracted_at
from stated
