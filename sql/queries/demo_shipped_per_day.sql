-- grain: Shipped a day, carrier and warehouse: the last days
-- source: marts.shipped_per_day
select
    day,
    shipping_carrier_code as carrier,
    warehouse_name as warehouse,
    shipments,
    packages
from marts.shipped_per_day
order by day desc, shipments desc
limit 5
