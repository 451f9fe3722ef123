-- grain: one row per warehouse
-- keys: id
-- needs: Warehouse
-- source: included.Warehouse (spec 2.5)
select
    id,
    "name",
    abbreviation,
    is_active,
    _page
from page."Warehouse"
