-- grain: one row a brand
-- keys: id
-- source: included.Brand (spec 2.5)
with stated as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("Brand") as brand
    from page
)

select
    brand.id,
    brand.code,
    brand."name",
    brand.is_active,
    brand.is_deleted,
    brand.sort_order,
    _window_id,
    _page,
    _extracted_at
from stated
