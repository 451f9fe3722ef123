-- question: How old are the open orders that have a shipment?
-- grain: one row per order with an open shipment, the oldest first; age in days at data_until
-- source: marts.order_fulfillment
select
    order_ref,
    merchant_name,
    status,
    open_shipments,
    round(age_days, 1) as age_days
from marts.order_fulfillment
where open_shipments > 0
order by age_days desc, order_id asc
