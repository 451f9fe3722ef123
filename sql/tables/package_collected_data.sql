-- grain: one row per value collected while packing
-- keys: shipment_id, package_position, position
-- same: order_item_id, label
-- root: shipments by shipment_id
-- parent: packages by shipment_id, package_position
-- newer: _extracted_at
-- source: ShipmentPackage.collected_data (spec 2.4)
create table package_collected_data (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    package_position integer, -- The package; joins packages.position. Source: order of Shipment.packages
    position integer, -- Position in the list, from 1. Source: order of ShipmentPackage.collected_data
    order_item_id bigint, -- The order item; joins order_items.id. Source: ShipmentPackage.collected_data[].order_item_id
    label varchar, -- Name of the collected value. Source: ShipmentPackage.collected_data[].label
    "value" varchar, -- The collected value. Source: ShipmentPackage.collected_data[].value
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
