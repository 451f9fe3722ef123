-- grain: one row an open shipment whose target day is over (UTC)
-- keys: shipment_id
-- source: marts.shipment_overview
-- notes: without what the service has no longer
create or replace view marts.open_shipments_past_target as
select
    shipment_id, -- The shipment; joins shipments.id
    unique_id, -- Number of the shipment as people know it
    status, -- Status of the shipment, an open set
    target_ship_date, -- Day by which it should have left
    days_after_target as days_late, -- Days since then
    warehouse_id, -- The warehouse; joins warehouses.id
    warehouse_name, -- Name of the warehouse
    shipping_carrier_code, -- Code of the carrier
    order_id, -- The order; joins orders.id
    order_unique_id, -- Number of the order as people know it
    order_status, -- Status of the order, an open set
    merchant_name, -- Name of the merchant
    retailer_id, -- The retailer; joins retailers.id
    retailer_name, -- Name of the retailer
    quantity, -- Quantity over all items, in pieces
    updated_at -- When the shipment was last changed (UTC)
from marts.shipment_overview
where is_open and days_after_target > 0
