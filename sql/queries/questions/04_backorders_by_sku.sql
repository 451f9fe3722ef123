-- question: Which SKUs wait for stock?
-- grain: one row per merchant and SKU with something on backorder; units are pieces
-- source: marts.sku_per_week
select
    merchant_name,
    sku,
    sum(units_backordered) as units_backordered,
    min(week) filter (where units_backordered > 0) as since_week
from marts.sku_per_week
group by merchant_id, merchant_name, sku
having sum(units_backordered) > 0
order by units_backordered desc, merchant_name asc, sku asc
