-- question: Which shipments hold lot or serial number X?
-- grain: one row per package in which the value was collected; lot is the value to search for
-- source: marts.shipment_overview, package_collected_data
select
    overview.shipment_id,
    collected.package_position,
    collected.label,
    overview.order_ref,
    overview.status,
    overview.shipped_day
from main.package_collected_data as collected
inner join marts.shipment_overview as overview
    on collected.shipment_id = overview.shipment_id
where collected."value" = $lot
order by overview.shipment_id, collected.package_position
