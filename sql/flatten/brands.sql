-- grain: one row per brand
-- keys: id
-- source: included.Brand (spec 2.5)
with stated as (
    select
        _page,
        object as brand
    from page."Brand"
)

select
    brand.id,
    brand.code,
    brand."name",
    brand.is_active,
    brand.is_deleted,
    brand.sort_order,
    _page
from stated
