-- question: How much of each SKU is shipped per week?
-- grain: one row per merchant, SKU and local week; units are pieces
select
    merchant_name,
    sku,
    date_trunc('week', shipped_day)::date as week,
    count(*) as shipment_lines,
    count(distinct order_id) as orders,
    sum(units_shipped) as units_shipped
from marts.shipment_lines
where shipped_day is not null
group by merchant_id, merchant_name, sku, week
order by merchant_name, sku, week
