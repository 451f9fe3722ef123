-- question: Which shipments hold lot or serial number X?
-- grain: one row per package in which the value was collected; lot is the value to search for
select
    shipments.shipment_id,
    collected.package_position,
    collected.label,
    shipments.order_ref,
    shipments.shipment_status,
    shipments.shipped_day
from main.package_collected_data as collected
inner join marts.shipments on collected.shipment_id = shipments.shipment_id
where collected."value" = $lot
order by shipments.shipment_id, collected.package_position
