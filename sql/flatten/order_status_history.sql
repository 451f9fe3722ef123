-- grain: one row per status change of an order
-- keys: order_id, position
-- needs: order
-- completed: OrderStatusHistory
-- source: Order.status_history, merged with included.OrderStatusHistory if present (spec 2.5, 4.5)
with stated as (
    select
        _page,
        id as order_id,
        generate_subscripts(status_history, 1)::integer as position,
        unnest(status_history, max_depth := 2)
    from "order"
)

select
    order_id,
    position,
    id,
    status,
    "comment",
    notify_merchant,
    requester.id as requester_id,
    "user",
    script_id,
    created_at,
    _page
from stated
