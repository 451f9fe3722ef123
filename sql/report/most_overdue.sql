-- grain: one row per open shipment whose target day is over, the twenty most overdue
-- keys: shipment_id
-- source: marts.open_shipments_past_target
select
    shipment_id,
    unique_id,
    order_unique_id,
    status,
    order_status,
    target_ship_date,
    days_late,
    warehouse_name,
    retailer_name
from marts.open_shipments_past_target
order by days_late desc, shipment_id asc
limit 20
