-- question: What share of orders is split over several shipments?
-- grain: one row per merchant; orders with a live shipment
-- source: marts.order_fulfillment
select
    merchant_name,
    count(*) as orders,
    count(*) filter (where is_split) as split,
    round(count(*) filter (where is_split) / count(*), 4) as share
from marts.order_fulfillment
where live_shipments > 0
group by merchant_id, merchant_name
order by merchant_name
