-- grain: one row per shipment of an order that is in the table
-- keys: id
-- source: shipments
select id
from shipments
where order_id = $order_id
order by id
