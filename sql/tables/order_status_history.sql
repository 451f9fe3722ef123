-- grain: one row per status change of an order
-- keys: order_id, position
-- same: id, status
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.status_history, merged with included.OrderStatusHistory if present (spec 2.5, 4.5)
create table order_status_history (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    position integer, -- Position of the entry in the history, from 1. Source: order of Order.status_history
    id bigint, -- The entry. Source: OrderStatusHistory.id
    status varchar, -- New status of the order. Source: OrderStatusHistory.status
    "comment" varchar, -- Comment. Source: OrderStatusHistory.comment
    notify_merchant boolean, -- Whether the merchant was notified; null if unknown. Source: OrderStatusHistory.notify_merchant
    requester_id bigint, -- Id of the user who requested the change. Source: OrderStatusHistory.requester.id
    "user" json, -- The user who made the change, as received. Source: OrderStatusHistory.user
    script_id bigint, -- The script that made the change. Source: OrderStatusHistory.script_id
    created_at timestamptz, -- When the change was made (UTC). Source: OrderStatusHistory.created_at
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
