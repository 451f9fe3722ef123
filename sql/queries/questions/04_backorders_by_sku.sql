-- question: Which SKUs wait for stock?
-- grain: one row per merchant and SKU of an order that waits for it; units are pieces
select
    merchant_name,
    sku,
    sum(units_backordered) as units_backordered,
    min(order_created_day) as since_day
from marts.order_lines
where units_backordered > 0
group by merchant_id, merchant_name, sku
order by units_backordered desc, merchant_name asc, sku asc
