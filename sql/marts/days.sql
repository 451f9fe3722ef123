-- grain: one row per warehouse and local day, without holes from the first day of a shipment to local_today
-- keys: warehouse_id, day
-- source: marts.shipments
-- notes: shipments of an unknown warehouse have a null warehouse_id. Shipments without the day in question are in no row of it, for example those that
--     were shipped at an unknown time
create or replace view marts.days as
with shipment as (
    select * from marts.shipments
),

facts as (
    select
        warehouse_id,
        created_day as day,
        count(*) as shipments_created
    from shipment
    group by warehouse_id, created_day
    union all by name
    select
        warehouse_id,
        packed_day as day,
        count(*) as shipments_packed
    from shipment
    group by warehouse_id, packed_day
    union all by name
    select
        warehouse_id,
        target_ship_date as day,
        count(is_on_time) as shipments_due,
        count(*) filter (where is_on_time) as shipments_on_time
    from shipment
    group by warehouse_id, target_ship_date
    union all by name
    select
        warehouse_id,
        shipped_day as day,
        count(*) as shipments_shipped,
        sum(units_shipped)::decimal(18, 4) as units_shipped,
        sum(packages) as packages_shipped,
        sum(cost) as cost
    from shipment
    group by warehouse_id, shipped_day
),

calendar as (
    select
        warehouse_id,
        any_value(warehouse_name) as warehouse_name,
        unnest(
            generate_series(
                min(least(created_day, packed_day, target_ship_date, shipped_day)), any_value(local_today), interval 1 day
            )
        )::date as day
    from shipment
    group by warehouse_id
)

select
    calendar.warehouse_id, -- The warehouse; joins main.warehouses.id
    any_value(calendar.warehouse_name) as warehouse_name, -- Name of the warehouse
    calendar.day, -- Local day
    coalesce(sum(facts.shipments_created), 0)::bigint as shipments_created, -- Number of shipments created on the day
    coalesce(sum(facts.shipments_packed), 0)::bigint as shipments_packed, -- Number of shipments packed on the day
    coalesce(sum(facts.shipments_due), 0)::bigint as shipments_due, -- Number of shipments with this ship-by date that can be judged (is_on_time is true or false)
    coalesce(sum(facts.shipments_on_time), 0)::bigint as shipments_on_time, -- Number of them that were shipped by that day
    coalesce(sum(facts.shipments_shipped), 0)::bigint as shipments_shipped, -- Number of shipped shipments
    sum(facts.units_shipped)::decimal(18, 4) as units_shipped, -- Quantity shipped, in pieces; null if no item has a quantity
    coalesce(sum(facts.packages_shipped), 0)::bigint as packages, -- Number of packages
    sum(facts.cost) as cost -- Amount charged by the carrier; no currency is sent. Null if the service sent none. For a package its part of the shipment's, by billed weight, or equal parts if a weight is missing
from calendar
left join facts
    on calendar.day = facts.day and calendar.warehouse_id is not distinct from facts.warehouse_id
group by calendar.warehouse_id, calendar.day
