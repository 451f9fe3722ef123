-- grain: one row a shipment item
-- keys: shipment_id, id
-- root: shipments by shipment_id
-- newer: _extracted_at
-- source: Shipment.items, with included.ShipmentItem where it is there (spec 2.4)
create table shipment_items (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    position integer, -- Place of the item in the shipment, from 1. Source: order of Shipment.items
    id bigint, -- The shipment item. Source: ShipmentItem.id
    "type" varchar, -- The kind of object, as the service names it. Source: ShipmentItem.type
    sku varchar, -- Stock keeping unit. Source: ShipmentItem.sku
    product_id bigint, -- The product; joins products.id. Source: ShipmentItem.product.id
    product_type varchar, -- Kind of the object that product_id names: Product or a packaging kind. Source: ShipmentItem.product.type
    quantity decimal(18, 4), -- Quantity to ship, in pieces. Source: ShipmentItem.quantity
    qty_shipped decimal(18, 4), -- Quantity shipped. Source: ShipmentItem.qty_shipped
    qty_picked decimal(18, 4), -- Quantity picked. Source: ShipmentItem.qty_picked
    qty_canceled decimal(18, 4), -- Quantity canceled. Source: ShipmentItem.qty_canceled
    qty_cancel_requested decimal(18, 4), -- Quantity that someone asked to cancel. Source: ShipmentItem.qty_cancel_requested
    order_item_id bigint, -- The order item; joins order_items.id. Source: ShipmentItem.order_item.id
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
