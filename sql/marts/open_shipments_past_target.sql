-- grain: one row per open shipment whose target day was over at data_until, by the local day of its warehouse
-- keys: shipment_id
-- source: marts.shipment_overview
-- notes: 'now' is data_until of ops.latest_load, not the time of the query. Excludes shipments that the service no longer has
create or replace view marts.open_shipments_past_target as
select
    shipment_id, -- The shipment; joins shipments.id
    unique_id, -- Human-readable number of the shipment
    status, -- Status of the shipment, an open set
    target_ship_date, -- Local day by which the shipment should have left
    days_after_target as days_late, -- Days since target_ship_date, to the local day of data_until
    warehouse_id, -- The warehouse; joins warehouses.id
    warehouse_name, -- Name of the warehouse
    shipping_carrier_code, -- Code of the carrier
    order_id, -- The order; joins orders.id
    order_unique_id, -- Human-readable number of the order
    order_status, -- Status of the order, an open set
    merchant_name, -- Name of the merchant
    retailer_id, -- The retailer; joins retailers.id
    retailer_name, -- Name of the retailer
    quantity, -- Quantity planned to leave, over all items, in pieces
    updated_at -- Time of the shipment's last change (UTC)
from marts.shipment_overview
where is_open and days_after_target > 0
