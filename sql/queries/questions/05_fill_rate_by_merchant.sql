-- question: What share of the ordered pieces was shipped, by merchant?
-- grain: one row per merchant, without canceled pieces and orders without quantities
-- source: marts.order_fulfillment
select
    merchant_name,
    count(*) as orders,
    sum(units_shipped) as units_shipped,
    sum(units_ordered - coalesce(units_canceled, 0)) as units_owed,
    round(sum(units_shipped)::double / nullif(sum(units_ordered - coalesce(units_canceled, 0)), 0), 4) as fill_rate
from marts.order_fulfillment
where items > 0 and items_without_quantity = 0
group by merchant_id, merchant_name
order by merchant_name
