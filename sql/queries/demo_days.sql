-- grain: Shipped per day and warehouse, newest first
-- source: marts.days
select
    day,
    warehouse_name as warehouse,
    shipments_shipped as shipments,
    packages
from marts.days
where shipments_shipped > 0
order by day desc, shipments desc
limit 3
