-- grain: one row per shipment that is open past its ship-by date for up to thirty days, the newest twenty
select
    shipments.shipment_id,
    shipments.shipment_unique_id,
    shipments.order_unique_id,
    shipments.target_ship_date,
    shipments.days_late,
    shipments.warehouse_name,
    shipments.merchant_name,
    coalesce(of_order.next_step, of_shipment.next_step) as next_step
from marts.shipments
left join marts.orders on shipments.order_id = orders.order_id
left join ops.code_values as of_order
    on of_order.column_name = 'orders.status' and orders.order_status = of_order."value"
left join ops.code_values as of_shipment
    on of_shipment.column_name = 'shipments.status' and shipments.shipment_status = of_shipment."value"
where
    shipments.is_open
    and shipments.days_late between 1 and 30
    and orders.is_open is distinct from false
order by shipments.days_late asc, shipments.shipment_id asc
limit 20
