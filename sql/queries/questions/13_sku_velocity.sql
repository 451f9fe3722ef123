-- question: How much of each SKU leaves per week?
-- grain: one row per merchant, SKU and local week; units are pieces
-- source: marts.sku_per_week
select
    merchant_name,
    sku,
    week,
    lines,
    orders,
    units
from marts.sku_per_week
where lines > 0
order by merchant_name, sku, week
