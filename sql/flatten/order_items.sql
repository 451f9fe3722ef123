-- grain: one row per item of an order
-- keys: order_id, id
-- needs: order
-- completed: OrderItem
-- source: Order.items, merged with included.OrderItem if present (spec 2.5)
-- notes: an order item has no reference to its order; the order's list of items gives order_id
with stated as (
    select
        _page,
        id as order_id,
        generate_subscripts(items, 1)::integer as position,
        unnest(items, max_depth := 2)
    from "order"
)

select
    order_id,
    position,
    id,
    sku,
    order_item_ref,
    product.id as product_id,
    product."type" as product_type,
    qty_ordered,
    qty_assigned,
    qty_allocated,
    qty_backordered,
    qty_processing,
    qty_picked,
    qty_shipped,
    qty_cancel_requested,
    qty_canceled,
    row_weight."value" as row_weight_value,
    row_weight.unit as row_weight_unit,
    _page
from stated
