-- grain: one row per forgotten order: its personal data was removed from the tables, or was never stored in them
-- keys: order_id
-- source: the state store
-- notes: tables that lack an order of the state store's list are older than the latest forget, so the next run erases it
create table ops.forgotten_orders (
    order_id bigint not null -- Id of the order.
)
