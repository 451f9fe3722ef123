-- question: How long does it take from order to shipment, packing, shipping and delivery?
-- grain: one row per warehouse; medians in hours of shipped shipments
select
    warehouse_name,
    count(*) as shipments,
    median(hours_order_to_created) as order_to_created,
    median(hours_created_to_packed) as created_to_packed,
    median(hours_packed_to_shipped) as packed_to_shipped,
    median(hours_shipped_to_delivered) as shipped_to_delivered
from marts.shipments
where is_shipped
group by warehouse_id, warehouse_name
order by warehouse_name
