-- grain: one row per order that was forgotten: its personal data was removed from the tables, or never came into them
-- keys: order_id
-- source: the state store
-- notes: tables that lack an order of the state store's list are older than the latest forget, so the next run erases it
create table ops.forgotten_orders (
    order_id bigint not null -- Id of the order.
)
