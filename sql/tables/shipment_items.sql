-- grain: one row per shipment item
-- keys: shipment_id, id
-- root: shipments by shipment_id
-- newer: _extracted_at
-- source: Shipment.items, merged with included.ShipmentItem if present (spec 2.4)
create table shipment_items (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    position integer, -- Position of the item in the shipment, from 1. Source: order of Shipment.items
    id bigint, -- The shipment item. Source: ShipmentItem.id
    "type" varchar, -- Kind of object, as the service names it. Source: ShipmentItem.type
    sku varchar, -- Stock keeping unit. Source: ShipmentItem.sku
    product_id bigint, -- The product; joins products.id. Source: ShipmentItem.product.id
    product_type varchar, -- Kind of the object that product_id refers to: Product or a packaging kind. Source: ShipmentItem.product.type
    quantity decimal(18, 4), -- Quantity to ship, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentItem.quantity
    qty_shipped decimal(18, 4), -- Quantity shipped, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentItem.qty_shipped
    qty_picked decimal(18, 4), -- Quantity picked, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentItem.qty_picked
    qty_canceled decimal(18, 4), -- Quantity canceled, in pieces; null if the service sent none, which marts count as none canceled. Source: ShipmentItem.qty_canceled
    qty_cancel_requested decimal(18, 4), -- Quantity for which cancellation was requested, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentItem.qty_cancel_requested
    order_item_id bigint, -- The order item; joins order_items.id. Source: ShipmentItem.order_item.id
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
