-- grain: one row per brand
-- keys: id
-- needs: Brand
-- source: included.Brand (spec 2.5)
select
    id,
    code,
    "name",
    is_active,
    is_deleted,
    sort_order,
    _page
from page."Brand"
