-- question: What does a 3PL bill each merchant for a month?
-- grain: one row per merchant and local month; shipped shipments
select
    merchant_code,
    date_trunc('month', shipped_day)::date as month,
    count(distinct order_id) as orders,
    count(*) as shipments,
    sum(packages)::bigint as packages,
    sum(units_shipped) as units_shipped,
    sum(cost) as cost,
    count(cost) as shipments_with_cost
from marts.shipments
where shipped_day >= $month::date and shipped_day < $month::date + interval 1 month
group by merchant_id, merchant_code, month
order by merchant_code
