-- grain: one row per warehouse
-- source: main.warehouses
select
    id,
    "name",
    abbreviation
from main.warehouses
order by all
