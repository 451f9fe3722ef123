-- question: What does a 3PL bill each merchant for a month?
-- grain: one row per merchant; month is the first day of the month
-- source: marts.merchant_per_month
select
    merchant_code,
    orders,
    shipments,
    packages,
    units,
    carrier_shipping_cost,
    shipments_without_cost
from marts.merchant_per_month
where month = $month
order by merchant_code
