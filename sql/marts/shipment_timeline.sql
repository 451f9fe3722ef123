-- grain: one row per shipment, with its times, its local days, the time when it left, and whether that was on time
-- keys: shipment_id
-- source: shipments, orders, warehouses, ops.timezones, ops.code_values, ops.latest_load
-- notes: only this mart determines whether and when a shipment left. It has left if its status is shipped. The service sends the time when
--     an order was shipped, but not for a shipment: left_at is the order's shipped_at; packed_at if that is
--     later, if the order has no such time, or if several of its shipments left, because the order's time belongs to one of them; null if there is no time.
--     Days are local days of the warehouse; 'now' is data_until of ops.latest_load. Orders without a shipment are not in this data
create or replace view marts.shipment_timeline as
with left_per_order as (
    select
        order_id,
        count(*) as shipments
    from main.shipments
    where lower(status) = 'shipped'
    group by order_id
),

shipment as (
    select
        shipments.id,
        shipments.order_id,
        shipments.warehouse_id,
        shipments.status,
        shipments.created_at,
        shipments.packed_at,
        shipments.target_ship_date,
        shipments._missing_since,
        orders.created_at as order_created_at,
        orders.can_fulfill_at,
        orders.delivered_at,
        orders.shipped_at as order_shipped_at,
        coalesce(warehouses.timezone, (select default_timezone from ops.latest_load), 'UTC') as timezone,
        lower(shipments.status) = 'shipped' as has_left,
        shipments._missing_since is null and code.is_open as is_open,
        code.is_open is null as is_unknown,
        case
            when not coalesce(lower(shipments.status) = 'shipped', false) then null
            when
                orders.shipped_at >= coalesce(shipments.packed_at, orders.shipped_at)
                and (shipments.packed_at is null or left_per_order.shipments = 1) then 'order'
            when shipments.packed_at is not null then 'packed'
            else 'unknown'
        end as left_at_source
    from main.shipments
    left join main.orders
        on shipments.order_id = orders.id
    left join main.warehouses
        on shipments.warehouse_id = warehouses.id
    left join left_per_order
        on shipments.order_id = left_per_order.order_id
    left join ops.code_values as code
        on
            lower(shipments.status) = code."value"
            and code.column_name = 'shipments.status'
            and code.is_known
),

dated as (
    select
        *,
        case left_at_source
            when 'order' then order_shipped_at
            when 'packed' then packed_at
        end as left_at
    from shipment
),

today as (
    select
        timezones.timezone,
        make_timestamp(epoch_us(latest_load.data_until) + timezones.utc_offset_seconds * 1000000)::date as day
    from ops.latest_load
    inner join ops.timezones
        on latest_load.data_until >= timezones.from_at and latest_load.data_until < timezones.to_at
),

localized as (
    select
        dated.*,
        today.day as today,
        make_timestamp(
            epoch_us(dated.order_created_at) + coalesce(ordered.utc_offset_seconds, 0) * 1000000
        ) as order_created_local,
        make_timestamp(epoch_us(dated.created_at) + coalesce(created.utc_offset_seconds, 0) * 1000000) as created_local,
        make_timestamp(epoch_us(dated.packed_at) + coalesce(packed.utc_offset_seconds, 0) * 1000000) as packed_local,
        make_timestamp(epoch_us(dated.left_at) + coalesce(gone.utc_offset_seconds, 0) * 1000000) as left_local
    from dated
    left join ops.timezones as ordered
        on
            dated.timezone = ordered.timezone
            and dated.order_created_at >= ordered.from_at and dated.order_created_at < ordered.to_at
    left join ops.timezones as created
        on
            dated.timezone = created.timezone
            and dated.created_at >= created.from_at and dated.created_at < created.to_at
    left join ops.timezones as packed
        on
            dated.timezone = packed.timezone
            and dated.packed_at >= packed.from_at and dated.packed_at < packed.to_at
    left join ops.timezones as gone
        on
            dated.timezone = gone.timezone
            and dated.left_at >= gone.from_at and dated.left_at < gone.to_at
    left join today
        on dated.timezone = today.timezone
),

judged as (
    select
        *,
        case
            when has_left then date_diff('day', target_ship_date, left_local::date)
            when is_open then date_diff('day', target_ship_date, today)
        end as days_after_target
    from localized
)

select
    id as shipment_id, -- The shipment; joins shipments.id
    order_id, -- The order that the shipment fulfills; joins orders.id
    warehouse_id, -- The warehouse that the shipment leaves from; joins warehouses.id
    timezone, -- Time zone of the local times and days; joins ops.timezones.timezone
    status, -- Status of the shipment; ops.code_values has the meanings
    coalesce(has_left, false) as has_left, -- Whether the shipment left: its status is shipped
    coalesce(is_open, false) as is_open, -- Whether the shipment is still to leave: its status is known to be open, and the service has it
    coalesce(has_left, false) or (_missing_since is null and (is_unknown or is_open)) as is_live, -- Whether the shipment left, is open, or has an unknown status; false if it was canceled, voided or deleted
    case
        when target_ship_date is null then 'none'
        when is_unknown then 'unknown'
        when has_left and left_at is null then 'unknown'
        when has_left and days_after_target > 0 then 'late'
        when has_left then 'on_time'
        when is_open then 'open'
        else 'none'
    end as verdict, -- on_time, late, open (has not left), none (no target day; or canceled, voided or deleted) or unknown (unknown status or time of leaving)
    today, -- Local day of data_until at the warehouse; null until the first read
    target_ship_date, -- Promised day: the local day by which the shipment should leave; null if no day was promised
    days_after_target, -- Days from target_ship_date to the local day on which the shipment left, or to that of data_until while it is open; negative before the target day; null if there is no verdict
    coalesce(target_ship_date < today, false) as was_due, -- Whether target_ship_date was over at data_until, by the local day
    order_created_at, -- When the order was created (UTC)
    order_created_local, -- order_created_at in local time
    can_fulfill_at, -- Time from which the order could be fulfilled (UTC)
    created_at, -- When the shipment was created (UTC)
    created_local, -- created_at in local time
    packed_at, -- When the shipment was packed (UTC)
    packed_local, -- packed_at in local time
    left_at, -- When the shipment left (UTC); null if it did not leave or the time is unknown
    left_local, -- left_at in local time
    left_at_source, -- Source of left_at: order (its shipped_at), packed (packed_at) or unknown; null if it did not leave
    delivered_at, -- When the order of the shipment was delivered (UTC); the service does not state for which of several shipments
    order_created_local::date as order_created_day, -- Local day on which the order was created
    created_local::date as created_day, -- Local day on which the shipment was created
    packed_local::date as packed_day, -- Local day on which the shipment was packed
    left_local::date as left_day, -- Local day on which the shipment left
    (epoch_us(created_at) - epoch_us(order_created_at)) / 3600000000 as hours_order_to_created, -- Hours from the order's creation to the shipment's
    (epoch_us(packed_at) - epoch_us(created_at)) / 3600000000 as hours_created_to_packed, -- Hours from the shipment's creation to packing
    (epoch_us(left_at) - epoch_us(packed_at)) / 3600000000 as hours_packed_to_left, -- Hours from packing until the shipment left; 0 if left_at is packed_at
    (epoch_us(left_at) - epoch_us(order_created_at)) / 3600000000 as hours_order_to_left, -- Hours from the order's creation until the shipment left
    (epoch_us(delivered_at) - epoch_us(left_at)) / 3600000000 as hours_left_to_delivered, -- Hours from leaving to the delivery of the order
    _missing_since as missing_since -- When an audit proved that the service no longer has the shipment, or a page marked it as deleted (UTC); null while the service has it
from judged
