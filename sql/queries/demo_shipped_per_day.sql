-- grain: Shipped per day, carrier and warehouse, newest first
-- source: marts.shipped_per_day
select
    day,
    shipping_carrier_code as carrier,
    warehouse_name as warehouse,
    shipments,
    packages
from marts.shipped_per_day
order by day desc, shipments desc
limit 3
