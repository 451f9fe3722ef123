-- grain: one row per shipment, with its times, names, totals and judgements
-- keys: shipment_id
-- source: shipments, orders, warehouses, merchants, retailers, retailer_ship_to_locations, third_party_billing_groups, shipment_items, products, marts.packages,
--     marts.packaging, history.shipments, ops.timezones, ops.code_values, ops.latest_load
-- notes: a share is avg(x::int) of a judgement x, and its number of shipments is count(x). A shipment was shipped if its status is shipped. The service
--     sends the time when an order was shipped, but not for a shipment: shipped_at is the order's shipped_at; packed_at if that is later, if the order
--     has no such time, or if several of its shipments were shipped, because the order's time belongs to one of them; null if there is no time.
--     Local times and days are those of the warehouse; 'now' is data_until of ops.latest_load. The first promise is that of the oldest version with one
create or replace view marts.shipments as
with shipped_per_order as (
    select
        order_id,
        count(*) as shipments
    from main.shipments
    where lower(status) = 'shipped'
    group by order_id
),

first_promise as (
    select
        id,
        arg_min(target_ship_date, version) as target_ship_date
    from history.shipments
    group by id
),

replacement as (
    select
        voided.id,
        arg_min(later.id, (later.created_at, later.id)) as replaced_by
    from main.shipments as voided
    inner join main.shipments as later
        on voided.order_id = later.order_id and (later.created_at, later.id) > (voided.created_at, voided.id)
    where
        lower(voided.status) = 'voided'
        and (later._missing_since is null or lower(later.status) = 'shipped')
        and coalesce(lower(later.status), '') not in ('voided', 'canceled')
    group by voided.id
),

items as (
    select
        items.shipment_id,
        count(*) as shipment_lines,
        count(distinct items.sku) as skus,
        sum(items.quantity) as units,
        sum(items.qty_picked) as units_picked,
        sum(items.qty_shipped) as units_shipped,
        sum(items.qty_canceled) as units_canceled,
        string_agg(distinct products.goods_type, ', ' order by products.goods_type) as goods_types
    from main.shipment_items as items
    left join main.products on items.product_id = products.id
    group by items.shipment_id
),

packed as (
    select
        shipment_id,
        count(*) as packages,
        sum(cost_by_kg) as cost_by_kg,
        sum(billed_kg) as billed_kg,
        bool_or(coalesce(sscc, '') = '') as is_without_sscc,
        string_agg(tracking_ref, ', ' order by package_position) as tracking_refs
    from marts.packages
    group by shipment_id
),

used as (
    select
        shipment_id,
        sum(packaging_units) as packaging_units
    from marts.packaging
    group by shipment_id
),

today as (
    select
        timezones.timezone,
        make_timestamp(epoch_us(latest_load.data_until) + timezones.utc_offset_seconds * 1000000)::date as local_today
    from ops.latest_load
    inner join ops.timezones on latest_load.data_until >= timezones.from_at and latest_load.data_until < timezones.to_at
),

shipment as (
    select
        shipments.*,
        lower(shipments.status) as shipment_status,
        orders.id is not null as has_order,
        orders.unique_id as order_unique_id,
        orders.order_ref,
        orders.merchant_id,
        orders.created_at as order_created_at,
        orders.updated_at as order_updated_at,
        orders.delivered_at,
        orders.requested_ship_date,
        orders.shipping_method as ordered_shipping_method,
        orders.ship_to_country,
        orders.ship_to_region,
        orders.ship_to_classification,
        orders.generate_sscc,
        orders.tpb_group_id,
        warehouses."name" as warehouse_name,
        coalesce(warehouses.timezone, (select default_timezone from ops.latest_load), 'UTC') as timezone,
        case when code.is_known then lower(shipments.status) = 'shipped' end as is_shipped,
        case when shipments._missing_since is null then code.is_open else false end as is_open,
        coalesce(first_promise.target_ship_date, shipments.target_ship_date) as first_target_ship_date,
        case
            when
                is_shipped
                and orders.shipped_at >= coalesce(shipments.packed_at, orders.shipped_at)
                and (shipments.packed_at is null or shipped_per_order.shipments = 1) then 'order'
            when is_shipped and shipments.packed_at is not null then 'packed'
            when is_shipped then 'unknown'
        end as shipped_at_source,
        case shipped_at_source
            when 'order' then orders.shipped_at
            when 'packed' then shipments.packed_at
        end as shipped_at
    from main.shipments
    left join main.orders on shipments.order_id = orders.id
    left join main.warehouses on shipments.warehouse_id = warehouses.id
    left join shipped_per_order on shipments.order_id = shipped_per_order.order_id
    left join first_promise on shipments.id = first_promise.id
    left join ops.code_values as code
        on code.column_name = 'shipments.status' and code."value" = lower(shipments.status) and code.is_known
),

judged as (
    select
        shipment.*,
        today.local_today,
        make_timestamp(epoch_us(shipment.order_created_at) + coalesce(ordered.utc_offset_seconds, 0) * 1000000) as order_created_local,
        make_timestamp(epoch_us(shipment.order_updated_at) + coalesce(changed.utc_offset_seconds, 0) * 1000000) as order_updated_local,
        make_timestamp(epoch_us(shipment.created_at) + coalesce(created.utc_offset_seconds, 0) * 1000000) as created_local,
        make_timestamp(epoch_us(shipment.packed_at) + coalesce(packed.utc_offset_seconds, 0) * 1000000) as packed_local,
        make_timestamp(epoch_us(shipment.shipped_at) + coalesce(gone.utc_offset_seconds, 0) * 1000000) as shipped_local,
        shipped_local::date as shipped_day,
        case
            when shipment.is_shipped then shipped_day
            when shipment.is_open then today.local_today
        end as judged_day
    from shipment
    left join today on shipment.timezone = today.timezone
    left join ops.timezones as ordered
        on shipment.timezone = ordered.timezone and shipment.order_created_at >= ordered.from_at and shipment.order_created_at < ordered.to_at
    left join ops.timezones as changed
        on shipment.timezone = changed.timezone and shipment.order_updated_at >= changed.from_at and shipment.order_updated_at < changed.to_at
    left join ops.timezones as created
        on shipment.timezone = created.timezone and shipment.created_at >= created.from_at and shipment.created_at < created.to_at
    left join ops.timezones as packed
        on shipment.timezone = packed.timezone and shipment.packed_at >= packed.from_at and shipment.packed_at < packed.to_at
    left join ops.timezones as gone
        on shipment.timezone = gone.timezone and shipment.shipped_at >= gone.from_at and shipment.shipped_at < gone.to_at
)

select
    judged.id as shipment_id, -- The shipment; joins marts.shipments.shipment_id
    judged.unique_id as shipment_unique_id, -- Human-readable number of the shipment
    judged.shipment_status, -- Status of the shipment, in lower case; ops.code_values has the meanings
    judged.is_shipped, -- Whether the shipment, or one of the order's shipments, was shipped; null if that is unknown
    judged.is_open, -- Whether the shipment or order is still to be done: every status and state is known to be open. Null if a status is unknown
    coalesce(judged.is_shipped or coalesce(judged.is_open, true), false) as is_live, -- Whether the shipment was shipped, is open, or has an unknown status; false if it was canceled, voided, or deleted before it was shipped
    judged.shipment_status = 'voided' as is_voided, -- Whether the shipment was undone after its label was created
    judged._missing_since is not null as is_deleted, -- Whether the service no longer has the shipment
    replacement.replaced_by as replaced_by_shipment_id, -- For a voided shipment, the first live shipment of its order that was created later; joins marts.shipments.shipment_id
    judged.warehouse_id, -- The warehouse; joins main.warehouses.id
    judged.warehouse_name, -- Name of the warehouse
    judged.timezone, -- Time zone of the local times and days; joins ops.timezones.timezone
    judged.local_today, -- Local day of data_until; null until the first read
    judged.merchant_id, -- The merchant; joins main.merchants.id
    merchants.code as merchant_code, -- Code of the merchant
    merchants."name" as merchant_name, -- Name of the merchant
    judged.retailer_id, -- The retailer; joins main.retailers.id
    retailers.code as retailer_code, -- Code of the retailer; null if the service did not send the retailer
    retailers."name" as retailer_name, -- Name of the retailer; null if the service did not send the retailer
    judged.order_id, -- The order; joins marts.orders.order_id
    judged.order_unique_id, -- Human-readable number of the order
    judged.order_ref, -- The merchant's own reference for the order
    judged.order_created_at, -- When the order was created (UTC)
    judged.order_created_local, -- When the order was created, in local time
    judged.order_created_local::date as order_created_day, -- Local day on which the order was created
    judged.order_updated_local, -- When the order was last changed, in local time
    judged.created_at, -- When the shipment was created (UTC)
    judged.created_local, -- When the shipment was created, in local time
    judged.created_local::date as created_day, -- Local day on which the shipment was created
    judged.updated_at, -- When the shipment was last changed (UTC)
    judged.packed_at, -- When the shipment was packed (UTC)
    judged.packed_local, -- When the shipment was packed, in local time
    judged.packed_local::date as packed_day, -- Local day on which the shipment was packed
    hour(judged.packed_local) as packed_hour, -- Local hour in which the shipment was packed, 0 to 23
    judged.shipped_at, -- When the shipment, or the last one of the order, was shipped (UTC); null if it was not shipped or the time is unknown
    judged.shipped_local, -- When the shipment, or the last one of the order, was shipped, in local time
    judged.shipped_day, -- Local day on which the shipment, or the last one of the order, was shipped
    judged.shipped_at_source, -- Source of shipped_at: order (its shipped_at), packed (packed_at) or unknown; null if the shipment was not shipped
    judged.delivered_at, -- When the order was delivered (UTC); the service does not say which of several shipments
    judged.requested_ship_date, -- Ship date requested by the order
    judged.target_ship_date, -- Ship-by date: the local day by which the shipment should be shipped; null if none was promised
    judged.first_target_ship_date, -- Ship-by date that was promised first, as far as it was read
    date_diff('day', judged.target_ship_date, judged.judged_day) as days_late, -- Days from the ship-by date to shipped_day, or to local_today while the shipment is open; negative before that date, null if neither
    case when judged.target_ship_date < judged.local_today then judged.judged_day <= judged.target_ship_date end as is_on_time, -- Whether it was shipped by its ship-by date, each live shipment of an order; false if it is open past that day. Null until the day is over, if nothing was promised or is known, or if it was canceled, voided, or deleted before it was shipped
    case when judged.first_target_ship_date < judged.local_today then judged.judged_day <= judged.first_target_ship_date end as is_on_time_by_first_promise, -- As is_on_time, by first_target_ship_date
    (epoch_us(judged.created_at) - epoch_us(judged.order_created_at)) / 3600000000 as hours_order_to_created, -- Hours from the order's creation to the shipment's
    (epoch_us(judged.packed_at) - epoch_us(judged.created_at)) / 3600000000 as hours_created_to_packed, -- Hours from the shipment's creation to packing
    (epoch_us(judged.shipped_at) - epoch_us(judged.packed_at)) / 3600000000 as hours_packed_to_shipped, -- Hours from packing to shipped_at; 0 if that is packed_at
    (epoch_us(judged.shipped_at) - epoch_us(judged.order_created_at)) / 3600000000 as hours_order_to_shipped, -- Hours from the order's creation to shipped_at
    (epoch_us(judged.delivered_at) - epoch_us(judged.shipped_at)) / 3600000000 as hours_shipped_to_delivered, -- Hours from shipped_at to the delivery of the order
    judged.shipping_carrier_code as carrier_code, -- Code of the carrier
    judged.shipping_method, -- Code of the shipping method used
    judged.ordered_shipping_method, -- Code of the shipping method requested by the order
    list_contains(nullif(retailers.allowed_shipping_methods, []), judged.shipping_method) as is_method_allowed, -- Whether the retailer allows the method used; null if the retailer lists no methods or no method is set
    judged.shipping_service_name, -- Name of the carrier's service
    judged.tpb_group, -- Label of the third-party billing group that is billed
    third_party.label as ordered_tpb_group, -- Label of the third-party billing group of the order
    case
        when judged.has_order and (judged.tpb_group_id is null or third_party.label is not null)
            then coalesce(judged.tpb_group, '') = coalesce(third_party.label, '')
    end as is_tpb_group_as_ordered, -- Whether the billed group is that of the order, or both have none; null if the order or its group was not sent
    judged.is_international, -- Whether the shipment crosses a border
    judged.ship_to_country, -- Country of the order's shipping address
    judged.ship_to_region, -- Region of the order's shipping address
    judged.ship_to_classification, -- Kind of place, such as residential or commercial
    ship_to.code as ship_to_code, -- Code of the retailer's ship-to location
    ship_to.city as ship_to_city, -- City of the retailer's ship-to location
    coalesce(items.shipment_lines, 0) as shipment_lines, -- Number of shipment items
    coalesce(items.skus, 0) as skus, -- Number of different SKUs
    items.units, -- Quantity planned or ordered, in pieces; null if no item has a quantity
    items.units_picked, -- Quantity picked, in pieces; null if no item has a quantity
    items.units_shipped, -- Quantity shipped, in pieces; null if no item has a quantity
    items.units_canceled, -- Quantity canceled, in pieces; null if no item has a quantity
    items.goods_types, -- Kinds of goods of the products, such as HAZMAT, in one text; ops.code_values has the meanings. Null if no product has a kind
    coalesce(packed.packages, 0) as packages, -- Number of packages
    case when packed.packages > 0 then packed.is_without_sscc and len(judged.generate_sscc) > 0 end as is_sscc_missing, -- Whether the order requires a Serial Shipping Container Code (SSCC) but a package has none; null without packages, or if one has none and the service did not send whether it is required
    packed.tracking_refs, -- Tracking numbers of the packages, in one text
    used.packaging_units, -- Quantity of packaging used, in pieces; 1 for a container or infill. Null if the service sent none
    packed.billed_kg, -- Weight that the carrier bills, in kg; null together with cost_by_kg
    packed.cost_by_kg, -- Part of cost with a billed weight: sum(cost_by_kg) / sum(billed_kg) is the cost per kg. Null together with billed_kg
    judged.carrier_shipping_cost::double as cost -- Amount charged by the carrier; no currency is sent. Null if the service sent none. For a package its part of the shipment's, by billed weight, or equal parts if a weight is missing
from judged
left join replacement on judged.id = replacement.id
left join main.merchants on judged.merchant_id = merchants.id
left join main.retailers on judged.retailer_id = retailers.id
left join main.retailer_ship_to_locations as ship_to on judged.retailer_ship_to_location_id = ship_to.id
left join main.third_party_billing_groups as third_party on judged.tpb_group_id = third_party.id
left join items on judged.id = items.shipment_id
left join packed on judged.id = packed.shipment_id
left join used on judged.id = used.shipment_id
