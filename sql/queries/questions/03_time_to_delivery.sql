-- question: How long does it take from order to shipment, packing, leaving and delivery?
-- grain: one row per warehouse; medians in hours of the shipments that left
-- source: marts.shipment_timeline, warehouses
select
    warehouses."name" as warehouse_name,
    count(*) as shipments,
    median(timeline.hours_order_to_created) as order_to_created,
    median(timeline.hours_created_to_packed) as created_to_packed,
    median(timeline.hours_packed_to_left) as packed_to_left,
    median(timeline.hours_left_to_delivered) as left_to_delivered
from marts.shipment_timeline as timeline
left join main.warehouses
    on timeline.warehouse_id = warehouses.id
where timeline.has_left
group by timeline.warehouse_id, warehouses."name"
order by warehouse_name
