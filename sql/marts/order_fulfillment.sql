-- grain: one row per order
-- keys: order_id
-- source: orders, order_items, merchants, retailers, marts.shipment_timeline
-- notes: live shipments are those that left, are open or have an unknown status. A sum is null if no item has the quantity; items without it are
--     counted. Canceled units are not owed. A verdict is null if it is still open, or if a quantity, a target day or a known status is missing
create or replace view marts.order_fulfillment as
with items as (
    select
        order_id,
        count(*) as items,
        sum(qty_ordered) as units_ordered,
        sum(qty_shipped) as units_shipped,
        sum(qty_backordered) as units_backordered,
        sum(qty_canceled) as units_canceled,
        count(*) filter (where qty_ordered is null or qty_shipped is null) as items_without_quantity,
        bool_and(qty_shipped >= qty_ordered - coalesce(qty_canceled, 0)) as is_all_shipped,
        bool_or(qty_ordered > coalesce(qty_canceled, 0)) as is_owed
    from main.order_items
    group by order_id
),

parts as (
    select
        order_id,
        count(*) as shipments,
        count(*) filter (where is_live) as live_shipments,
        count(*) filter (where is_open) as open_shipments,
        count(*) filter (where has_left) as shipments_left,
        bool_or(verdict = 'late' or (verdict = 'open' and was_due)) as is_any_late,
        bool_and(verdict = 'on_time') filter (where is_live) as is_each_on_time,
        bool_or(is_live and not is_open and not has_left) as is_any_unknown,
        max(left_at) as last_left_at,
        max(packed_at) as last_packed_at
    from marts.shipment_timeline
    where order_id is not null
    group by order_id
),

decided as (
    select
        orders.*,
        items.items,
        items.units_ordered,
        items.units_shipped,
        items.units_backordered,
        items.units_canceled,
        items.items_without_quantity,
        parts.shipments,
        parts.live_shipments,
        parts.open_shipments,
        parts.shipments_left,
        parts.last_left_at,
        parts.last_packed_at,
        case
            when items.items_without_quantity > 0 or not coalesce(items.is_owed, false) then null
            when items.is_all_shipped then true
            when parts.open_shipments > 0 or parts.is_any_unknown then null
            else false
        end as in_full,
        case
            when parts.is_any_late then false
            when parts.is_each_on_time then true
        end as on_time
    from main.orders
    left join items
        on orders.id = items.order_id
    left join parts
        on orders.id = parts.order_id
)

select
    decided.id as order_id, -- The order; joins orders.id
    decided.unique_id as order_unique_id, -- Human-readable number of the order
    decided.order_ref, -- The merchant's own reference for the order
    decided.state, -- State of the order; ops.code_values has the meanings
    decided.status, -- Status of the order; ops.code_values has the meanings
    decided.merchant_id, -- The merchant; joins merchants.id
    merchants."name" as merchant_name, -- Name of the merchant
    decided.retailer_id, -- The retailer; joins retailers.id
    retailers.code as retailer_code, -- Code of the retailer
    retailers."name" as retailer_name, -- Name of the retailer
    decided.ship_to_country, -- Country of the shipping address
    decided.ship_to_region, -- Region of the shipping address
    decided.ship_to_classification, -- Kind of place, such as residential or commercial
    decided.customs_value_amount, -- Customs value, in customs_value_currency
    decided.customs_value_currency, -- Currency of customs_value_amount, three letters
    decided.created_at, -- When the order was created (UTC)
    decided.last_packed_at, -- When the last shipment of the order was packed (UTC)
    decided.last_left_at, -- When the last shipment of the order left (UTC)
    decided.delivered_at, -- When the order was delivered (UTC)
    coalesce(decided.items, 0) as items, -- Number of order items
    decided.units_ordered, -- Quantity ordered, in pieces
    decided.units_shipped, -- Quantity shipped, in pieces
    decided.units_backordered, -- Quantity that waits for stock, in pieces
    decided.units_canceled, -- Quantity canceled, in pieces
    coalesce(decided.items_without_quantity, 0) as items_without_quantity, -- Number of items without quantity ordered or shipped; the sums exclude missing quantities
    coalesce(decided.shipments, 0) as shipments, -- Number of shipments in this data, with any status
    coalesce(decided.live_shipments, 0) as live_shipments, -- Number of shipments that were not canceled, voided or deleted
    coalesce(decided.open_shipments, 0) as open_shipments, -- Number of shipments that are still to leave
    coalesce(decided.shipments_left, 0) as shipments_left, -- Number of shipments that left
    coalesce(decided.live_shipments > 1, false) as is_split, -- Whether the order has more than one live shipment
    decided.in_full, -- Whether every piece that was ordered and not canceled was shipped; null while a shipment is open, if a quantity is missing, or if no piece is owed
    decided.on_time, -- Whether every live shipment left by its target day; false as soon as a live shipment did not; null if that is unknown
    case
        when not decided.on_time or not decided.in_full then false
        when decided.on_time and decided.in_full then true
    end as otif, -- On time and in full: false as soon as either is false, true if both are true, else null
    case
        when decided.open_shipments > 0
            then
                (epoch_us((select data_until from ops.latest_load)) - epoch_us(decided.created_at)) / 86400000000
    end as age_days -- Days of 24 hours from creation to data_until, with decimals; null unless a shipment is open
from decided
left join main.merchants
    on decided.merchant_id = merchants.id
left join main.retailers
    on decided.retailer_id = retailers.id
