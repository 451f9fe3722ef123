-- grain: one row per item of an order
-- keys: order_id, order_item_id
-- source: order_items, products, marts.orders
-- notes: lines of orders without a shipment are not in this data
create or replace view marts.order_lines as
select
    items.order_id, -- The order; joins marts.orders.order_id
    items.id as order_item_id, -- The order item; joins main.order_items.id
    items.product_id, -- The product; joins main.products.id
    items.sku, -- Stock keeping unit
    products."name" as product_name, -- Name of the product
    orders.order_ref, -- The merchant's own reference for the order
    orders.merchant_id, -- The merchant; joins main.merchants.id
    orders.merchant_name, -- Name of the merchant
    orders.order_created_day, -- Local day on which the order was created
    orders.is_open, -- Whether the shipment or order is still to be done: every status and state is known to be open. Null if a status is unknown
    orders.age_days, -- Days of 24 hours from creation to data_until, with decimals; null unless the order is open
    items.qty_ordered::decimal(38, 4) as units, -- Quantity planned or ordered, in pieces; null if no item has a quantity
    items.qty_allocated::decimal(38, 4) as units_reserved, -- Quantity for which stock is reserved, in pieces; null if no item has a quantity
    items.qty_picked::decimal(38, 4) as units_picked, -- Quantity picked, in pieces; null if no item has a quantity
    items.qty_shipped::decimal(38, 4) as units_shipped, -- Quantity shipped, in pieces; null if no item has a quantity
    items.qty_canceled::decimal(38, 4) as units_canceled, -- Quantity canceled, in pieces; null if no item has a quantity
    case when not orders.is_open then 0 else items.qty_backordered::decimal(38, 4) end as units_backordered -- Quantity that waits for stock, in pieces; 0 once the order is closed
from main.order_items as items
left join marts.orders on items.order_id = orders.order_id
left join main.products on items.product_id = products.id
