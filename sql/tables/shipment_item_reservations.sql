-- grain: one row per reservation of stock for a shipment item
-- keys: shipment_id, shipment_item_id, position
-- root: shipments by shipment_id
-- parent: shipment_items by shipment_id, shipment_item_id
-- newer: _extracted_at
-- source: ShipmentItem.reservations (spec 2.4)
create table shipment_item_reservations (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    shipment_item_id bigint, -- The shipment item; joins shipment_items.id. Source: ShipmentItem.id
    position integer, -- Position of the reservation in the item, from 1. Source: order of ShipmentItem.reservations
    location_id bigint, -- The warehouse location that holds the stock. Source: ShipmentItem.reservations[].location.id
    quantity decimal(18, 4), -- Quantity reserved there, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentItem.reservations[].quantity
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
