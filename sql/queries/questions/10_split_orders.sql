-- question: What share of orders is split over several shipments?
-- grain: one row per merchant; orders with a live shipment
select
    merchant_name,
    count(*) as orders,
    count(*) filter (where is_split) as split,
    round(avg(is_split::int), 4) as share
from marts.orders
where shipments_live > 0
group by merchant_id, merchant_name
order by merchant_name
