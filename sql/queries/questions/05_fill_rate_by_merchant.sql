-- question: What share of the ordered pieces was shipped, by merchant?
-- grain: one row per merchant, without canceled pieces and orders without quantities
select
    merchant_name,
    count(*) as orders,
    sum(units_shipped) as units_shipped,
    sum(units - coalesce(units_canceled, 0)) as units_owed,
    round(sum(units_shipped)::double / nullif(sum(units - coalesce(units_canceled, 0)), 0), 4) as fill_rate
from marts.orders
where order_lines > 0 and lines_without_units = 0
group by merchant_id, merchant_name
order by merchant_name
