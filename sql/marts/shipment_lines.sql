-- grain: one row per item of a shipment
-- keys: shipment_id, shipment_item_id
-- source: shipment_items, shipment_item_reservations, products, marts.shipments
-- notes: picked short and shipped short are known once the shipment is packed or shipped; canceled units are not short
create or replace view marts.shipment_lines as
with reserved as (
    select
        shipment_id,
        shipment_item_id,
        sum(quantity) as units_reserved
    from main.shipment_item_reservations
    group by shipment_id, shipment_item_id
)

select
    items.shipment_id, -- The shipment; joins marts.shipments.shipment_id
    items.id as shipment_item_id, -- The shipment item; joins main.shipment_items.id
    shipments.order_id, -- The order; joins marts.orders.order_id
    items.order_item_id, -- The order item; joins main.order_items.id
    items.product_id, -- The product; joins main.products.id
    items.sku, -- Stock keeping unit
    products."name" as product_name, -- Name of the product
    products.goods_type, -- Kind of goods of the product, such as HAZMAT; ops.code_values has the meanings
    shipments.warehouse_id, -- The warehouse; joins main.warehouses.id
    shipments.warehouse_name, -- Name of the warehouse
    shipments.merchant_id, -- The merchant; joins main.merchants.id
    shipments.merchant_name, -- Name of the merchant
    shipments.packed_day, -- Local day on which the shipment was packed
    shipments.shipped_day, -- Local day on which the shipment, or the last one of the order, was shipped
    shipments.is_shipped, -- Whether the shipment, or one of the order's shipments, was shipped; null if that is unknown
    shipments.is_open, -- Whether the shipment or order is still to be done: every status and state is known to be open. Null if a status is unknown
    items.quantity::decimal(38, 4) as units, -- Quantity planned or ordered, in pieces; null if no item has a quantity
    reserved.units_reserved, -- Quantity for which stock is reserved, in pieces; null if no item has a quantity
    items.qty_picked::decimal(38, 4) as units_picked, -- Quantity picked, in pieces; null if no item has a quantity
    items.qty_shipped::decimal(38, 4) as units_shipped, -- Quantity shipped, in pieces; null if no item has a quantity
    items.qty_canceled::decimal(38, 4) as units_canceled, -- Quantity canceled, in pieces; null if no item has a quantity
    case
        when shipments.packed_at is not null and items.quantity is not null and items.qty_picked is not null
            then greatest(items.quantity::decimal(38, 4) - coalesce(items.qty_canceled, 0) - items.qty_picked, 0)
    end as units_picked_short, -- Quantity of a packed shipment that was not canceled and not picked, in pieces; null if a quantity is missing
    case
        when shipments.is_shipped and items.quantity is not null and items.qty_shipped is not null
            then greatest(items.quantity::decimal(38, 4) - coalesce(items.qty_canceled, 0) - items.qty_shipped, 0)
    end as units_shipped_short -- Quantity of a shipped shipment that was not canceled and not shipped, in pieces; null if a quantity is missing
from main.shipment_items as items
left join marts.shipments on items.shipment_id = shipments.shipment_id
left join reserved on items.shipment_id = reserved.shipment_id and items.id = reserved.shipment_item_id
left join main.products on items.product_id = products.id
