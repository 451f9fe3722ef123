-- grain: one row per item of an order
-- keys: order_id, id
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.items, merged with included.OrderItem if present (spec 2.5)
create table order_items (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    position integer, -- Position of the item in the order, from 1. Source: order of Order.items
    id bigint, -- The order item. Source: OrderItem.id
    sku varchar, -- Stock keeping unit. Source: OrderItem.sku
    order_item_ref varchar, -- The merchant's own reference for the item. Source: OrderItem.order_item_ref
    product_id bigint, -- The product; joins products.id. Source: OrderItem.product.id
    product_type varchar, -- Kind of the object that product_id refers to: Product or a packaging kind. Source: OrderItem.product.type
    qty_ordered decimal(18, 4), -- Quantity ordered, in pieces; null if the service sent none, which does not mean 0. Source: OrderItem.qty_ordered
    qty_assigned decimal(18, 4), -- Quantity assigned to shipments, in pieces; null if the service sent none, which does not mean 0. Source: OrderItem.qty_assigned
    qty_allocated decimal(18, 4), -- Quantity allocated from stock, in pieces; null if the service sent none, which does not mean 0. Source: OrderItem.qty_allocated
    qty_backordered decimal(18, 4), -- Quantity waiting for stock, in pieces; null if the service sent none, which does not mean 0. Source: OrderItem.qty_backordered
    qty_processing decimal(18, 4), -- Quantity being processed, in pieces; null if the service sent none, which does not mean 0. Source: OrderItem.qty_processing
    qty_picked decimal(18, 4), -- Quantity picked, in pieces; null if the service sent none, which does not mean 0. Source: OrderItem.qty_picked
    qty_shipped decimal(18, 4), -- Quantity shipped, in pieces; null if the service sent none, which does not mean 0. Source: OrderItem.qty_shipped
    qty_cancel_requested decimal(18, 4), -- Quantity for which cancellation was requested, in pieces; null if the service sent none, which does not mean 0. Source: OrderItem.qty_cancel_requested
    qty_canceled decimal(18, 4), -- Quantity canceled, in pieces; null if the service sent none, which marts count as none canceled. Source: OrderItem.qty_canceled
    row_weight_value double, -- Weight of the whole quantity, in row_weight_unit. Source: OrderItem.row_weight.value
    row_weight_unit varchar, -- Unit of row_weight_value; the service uses lb. Source: OrderItem.row_weight.unit
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
