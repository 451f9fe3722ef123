-- grain: one row per shipment of the orders whose id, unique_id or order_ref this is, which several merchants may use
-- keys: id
-- source: shipments, orders
select shipments.id
from shipments
left join orders on shipments.order_id = orders.id
where $name in (shipments.order_id::varchar, orders.unique_id, orders.order_ref)
order by shipments.order_id, shipments.id
