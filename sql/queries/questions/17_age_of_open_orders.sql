-- question: How old are the open orders?
-- grain: one row per open order, the oldest first; age in days at data_until
select
    order_ref,
    merchant_name,
    order_status,
    shipments_open,
    round(age_days, 1) as age_days
from marts.orders
where is_open
order by age_days desc, order_id asc
