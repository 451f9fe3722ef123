-- grain: one row per item of an order
-- keys: order_id, id
-- source: Order.items, merged with included.OrderItem if present (spec 2.5)
-- notes: an order item does not refer to its order; the order's list of items gives order_id
with stated as (
    select
        _page,
        id as order_id,
        unnest(items) as item,
        generate_subscripts(items, 1)::integer as position
    from "order"
),

included as (
    select
        _page,
        object as item
    from page."OrderItem"
),

resolved as (
    select
        stated._page,
        stated.order_id,
        stated.position,
        completed_order_item(included.item, stated.item) as item
    from stated
    left join included
        on stated._page = included._page and stated.item.id = included.item.id
)

select
    order_id,
    position,
    item.id,
    item.sku,
    item.order_item_ref,
    item.product.id as product_id,
    item.product."type" as product_type,
    item.qty_ordered,
    item.qty_assigned,
    item.qty_allocated,
    item.qty_backordered,
    item.qty_processing,
    item.qty_picked,
    item.qty_shipped,
    item.qty_cancel_requested,
    item.qty_canceled,
    item.row_weight."value" as row_weight_value,
    item.row_weight.unit as row_weight_unit,
    _page
from resolved
