-- grain: one row per order, with the totals and judgements of its items and shipments
-- keys: order_id
-- source: orders, order_items, order_status_history, merchants, retailers, marts.shipments, history.orders, ops.code_values, ops.latest_load
-- notes: orders without a shipment are not in this data. A share is avg(x::int) of a judgement x, and its number of orders is count(x). Local times and
--     days are those of the warehouse of the order's first shipment, shipped_day of that of its last. Canceled units are not owed. An order
--     is on hold since the first of its last entries on hold in order_status_history, or else since it was first read so
create or replace view marts.orders as
with items as (
    select
        order_id,
        count(*) as order_lines,
        count(distinct sku) as skus,
        sum(qty_ordered) as units,
        sum(qty_allocated) as units_reserved,
        sum(qty_picked) as units_picked,
        sum(qty_shipped) as units_shipped,
        sum(qty_canceled) as units_canceled,
        sum(qty_backordered) as units_backordered,
        count(*) filter (where qty_ordered is null or qty_shipped is null) as lines_without_units,
        bool_and(qty_shipped >= qty_ordered::decimal(38, 4) - coalesce(qty_canceled, 0)) as is_all_shipped,
        bool_or(qty_ordered > coalesce(qty_canceled, 0)) as is_owed
    from main.order_items
    group by order_id
),

parts as (
    select
        order_id,
        arg_min(timezone, shipment_id) as timezone,
        arg_min(order_created_local, shipment_id) as order_created_local,
        arg_min(order_updated_local, shipment_id) as order_updated_local,
        count(*) as shipments,
        count(*) filter (where is_live) as shipments_live,
        count(*) filter (where is_open) as shipments_open,
        count(*) filter (where is_shipped) as shipments_shipped,
        case
            when bool_or(not is_on_time) then false
            when bool_and(is_on_time is not null) filter (where is_live) then true
        end as is_on_time,
        bool_or(is_live and is_open is null) as is_any_unknown,
        case when bool_or(is_shipped) then true when bool_and(is_shipped is not null) then false end as is_shipped,
        max(shipped_at) as shipped_at,
        arg_max(shipped_local, shipped_at) as shipped_local,
        sum(packages)::bigint as packages,
        sum(cost) as cost
    from marts.shipments
    where order_id is not null
    group by order_id
),

on_hold as (
    select id
    from main.orders
    where lower(state) = 'holded' or lower(status) = 'holded'
),

statuses as (
    select
        order_id,
        true as is_of_service,
        (created_at, position) as since,
        lower(status) = 'holded' as is_on_hold
    from main.order_status_history
    semi join on_hold on order_status_history.order_id = on_hold.id
    where created_at is not null
    union all
    select
        id as order_id,
        false as is_of_service,
        (valid_from, version) as since,
        coalesce(lower(state) = 'holded', false) or coalesce(lower(status) = 'holded', false) as is_on_hold
    from history.orders
    semi join on_hold on orders.id = on_hold.id
),

released as (
    select
        *,
        max(since) filter (where not is_on_hold) over (partition by order_id, is_of_service) as released_at
    from statuses
),

held as (
    select
        order_id,
        coalesce(min(since) filter (where is_of_service), min(since) filter (where not is_of_service))[1] as on_hold_since
    from released
    where is_on_hold and (released_at is null or since > released_at)
    group by order_id
),

judged as (
    select
        orders.*,
        state.is_open and status.is_open as is_open
    from main.orders
    left join ops.code_values as state
        on state.column_name = 'orders.state' and state."value" = lower(orders.state) and state.is_known
    left join ops.code_values as status
        on status.column_name = 'orders.status' and status."value" = lower(orders.status) and status.is_known
)

select
    judged.id as order_id, -- The order; joins marts.orders.order_id
    judged.unique_id as order_unique_id, -- Human-readable number of the order
    judged.order_ref, -- The merchant's own reference for the order
    lower(judged.state) as order_state, -- State of the order, in lower case; ops.code_values has the meanings
    lower(judged.status) as order_status, -- Status of the order, in lower case; ops.code_values has the meanings
    judged.is_open, -- Whether the shipment or order is still to be done: every status and state is known to be open. Null if a status is unknown
    held.on_hold_since, -- When the order was put on hold (UTC); null unless it is on hold
    (epoch_us(latest_load.data_until) - epoch_us(held.on_hold_since)) / 3600000000 as hours_on_hold, -- Hours from on_hold_since to data_until; null unless the order is on hold
    judged.merchant_id, -- The merchant; joins main.merchants.id
    merchants.code as merchant_code, -- Code of the merchant
    merchants."name" as merchant_name, -- Name of the merchant
    judged.retailer_id, -- The retailer; joins main.retailers.id
    retailers.code as retailer_code, -- Code of the retailer; null if the service did not send the retailer
    retailers."name" as retailer_name, -- Name of the retailer; null if the service did not send the retailer
    judged.shipping_method as ordered_shipping_method, -- Code of the shipping method requested by the order
    judged.requested_ship_date, -- Ship date requested by the order
    judged.ship_to_country, -- Country of the order's shipping address
    judged.ship_to_region, -- Region of the order's shipping address
    judged.ship_to_classification, -- Kind of place, such as residential or commercial
    judged.declared_value_amount, -- Declared value, in declared_value_currency
    judged.declared_value_currency, -- Currency of declared_value_amount, three letters
    judged.customs_value_amount, -- Customs value, in customs_value_currency
    judged.customs_value_currency, -- Currency of customs_value_amount, three letters
    parts.timezone, -- Time zone of the local times and days; joins ops.timezones.timezone
    judged.created_at as order_created_at, -- When the order was created (UTC)
    parts.order_created_local, -- When the order was created, in local time
    parts.order_created_local::date as order_created_day, -- Local day on which the order was created
    parts.order_updated_local, -- When the order was last changed, in local time
    parts.shipped_at, -- When the shipment, or the last one of the order, was shipped (UTC); null if it was not shipped or the time is unknown
    parts.shipped_local, -- When the shipment, or the last one of the order, was shipped, in local time
    parts.shipped_local::date as shipped_day, -- Local day on which the shipment, or the last one of the order, was shipped
    judged.delivered_at, -- When the order was delivered (UTC); the service does not say which of several shipments
    case when judged.is_open then (epoch_us(latest_load.data_until) - epoch_us(judged.created_at)) / 86400000000 end as age_days, -- Days of 24 hours from creation to data_until, with decimals; null unless the order is open
    coalesce(items.order_lines, 0) as order_lines, -- Number of order items
    coalesce(items.lines_without_units, 0) as lines_without_units, -- Number of items without quantity ordered or shipped; the sums exclude missing quantities
    coalesce(items.skus, 0) as skus, -- Number of different SKUs
    items.units, -- Quantity planned or ordered, in pieces; null if no item has a quantity
    items.units_reserved, -- Quantity for which stock is reserved, in pieces; null if no item has a quantity
    items.units_picked, -- Quantity picked, in pieces; null if no item has a quantity
    items.units_shipped, -- Quantity shipped, in pieces; null if no item has a quantity
    items.units_canceled, -- Quantity canceled, in pieces; null if no item has a quantity
    case when not judged.is_open then 0 else items.units_backordered end as units_backordered, -- Quantity that waits for stock, in pieces; 0 once the order is closed
    coalesce(parts.shipments, 0) as shipments, -- Number of shipments, with any status
    coalesce(parts.shipments_live, 0) as shipments_live, -- Number of shipments that were not canceled, voided, or deleted before they were shipped
    coalesce(parts.shipments_open, 0) as shipments_open, -- Number of open shipments
    coalesce(parts.shipments_shipped, 0) as shipments_shipped, -- Number of shipped shipments
    coalesce(parts.packages, 0) as packages, -- Number of packages
    parts.cost, -- Amount charged by the carrier; no currency is sent. Null if the service sent none. For a package its part of the shipment's, by billed weight, or equal parts if a weight is missing
    parts.order_id is not null and parts.is_shipped as is_shipped, -- Whether the shipment, or one of the order's shipments, was shipped; null if that is unknown
    coalesce(parts.shipments_live > 1, false) as is_split, -- Whether the order has more than one live shipment
    parts.is_on_time, -- Whether it was shipped by its ship-by date, each live shipment of an order; false if it is open past that day. Null until the day is over, if nothing was promised or is known, or if it was canceled, voided, or deleted before it was shipped
    case
        when items.lines_without_units > 0 or not coalesce(items.is_owed, false) then null
        when items.is_all_shipped then true
        when parts.shipments_open > 0 or parts.is_any_unknown then null
        else false
    end as is_in_full, -- Whether every piece that was ordered and not canceled was shipped; null if not yet, while a shipment is open or has an unknown status, if a quantity is missing, or if no piece is owed
    parts.is_on_time and is_in_full as is_otif -- Whether the order was shipped on time and in full: false as soon as either is false, true if both are true, else null
from judged
left join items on judged.id = items.order_id
left join parts on judged.id = parts.order_id
left join held on judged.id = held.order_id
left join main.merchants on judged.merchant_id = merchants.id
left join main.retailers on judged.retailer_id = retailers.id
left join ops.latest_load on true
