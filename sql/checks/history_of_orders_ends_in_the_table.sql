-- severity: warn
-- blocking: no
-- table: orders
-- asked: the rows of orders
-- description: Every row of orders equals the current version of the order in history.
with stored as (
    select
        id,
        hash(
            state,
            status,
            merchant_id,
            brand_id,
            retailer_id,
            carrier_code,
            shipping_method,
            priority,
            requested_ship_date,
            desired_delivery_date,
            can_fulfill,
            can_fulfill_at,
            hold_until_time,
            backorder_policy,
            is_address_modified,
            total_item_count,
            completed_at,
            shipped_at,
            delivered_at
        ) as row_hash
    from orders
),

latest as (
    select
        id,
        hash(
            state,
            status,
            merchant_id,
            brand_id,
            retailer_id,
            carrier_code,
            shipping_method,
            priority,
            requested_ship_date,
            desired_delivery_date,
            can_fulfill,
            can_fulfill_at,
            hold_until_time,
            backorder_policy,
            is_address_modified,
            total_item_count,
            completed_at,
            shipped_at,
            delivered_at
        ) as row_hash
    from history.orders
    where is_current
)

select
    stored.id,
    latest.id is not null as is_in_history
from stored
left join latest
    on stored.id = latest.id
where stored.row_hash is distinct from latest.row_hash
