-- grain: one row per status change of an order
-- keys: order_id, position
-- source: Order.status_history, merged with included.OrderStatusHistory if present (spec 2.5, 4.5)
with stated as (
    select
        _page,
        id as order_id,
        unnest(status_history) as entry,
        generate_subscripts(status_history, 1)::integer as position
    from "order"
),

included as (
    select
        _page,
        object as entry
    from page."OrderStatusHistory"
),

resolved as (
    select
        stated._page,
        stated.order_id,
        stated.position,
        completed_order_status_history(included.entry, stated.entry) as entry
    from stated
    left join included
        on stated._page = included._page and stated.entry.id = included.entry.id
)

select
    order_id,
    position,
    entry.id,
    entry.status,
    entry."comment",
    entry.notify_merchant,
    entry.requester.id as requester_id,
    entry."user",
    entry.script_id,
    entry.created_at,
    _page
from resolved
