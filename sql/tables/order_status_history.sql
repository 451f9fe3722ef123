-- grain: one row a change of status of an order
-- keys: order_id, position
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.status_history, with included.OrderStatusHistory where it is there (spec 2.5, 4.5)
create table order_status_history (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    position integer, -- Place of the entry in the history, from 1. Source: order of Order.status_history
    id bigint, -- The entry. Source: OrderStatusHistory.id
    status varchar, -- Status that the order took. Source: OrderStatusHistory.status
    "comment" varchar, -- Comment. Source: OrderStatusHistory.comment
    notify_merchant boolean, -- Whether the merchant was told; null where unknown. Source: OrderStatusHistory.notify_merchant
    requester_id bigint, -- Who asked for the change. Source: OrderStatusHistory.requester.id
    "user" json, -- The user who made the change, as it came. Source: OrderStatusHistory.user
    script_id bigint, -- The script that made the change. Source: OrderStatusHistory.script_id
    created_at timestamptz, -- When the change was made (UTC). Source: OrderStatusHistory.created_at
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
