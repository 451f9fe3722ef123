-- grain: one row per warehouse and local day, without holes from the first day of a shipment to local_today
-- keys: warehouse_id, day
-- source: marts.shipments
-- notes: shipments of an unknown warehouse have a null warehouse_id. Shipments without the day in question are in no row of it, for example those that
--     were shipped at an unknown time
create or replace view marts.days as
with shipment as (
    select * from marts.shipments
),

happened as (
    select
        warehouse_id,
        warehouse_name,
        local_today,
        unnest([created_day, packed_day, target_ship_date, shipped_day]) as day,
        unnest(['created', 'packed', 'due', 'shipped']) as what,
        is_on_time,
        units_shipped,
        packages,
        cost
    from shipment
    union all by name
    select
        warehouse_id,
        any_value(warehouse_name) as warehouse_name,
        any_value(local_today) as local_today,
        unnest(
            generate_series(
                min(least(created_day, packed_day, target_ship_date, shipped_day)), any_value(local_today), interval 1 day
            )
        )::date as day
    from shipment
    group by warehouse_id
)

select
    warehouse_id, -- The warehouse; joins main.warehouses.id
    any_value(warehouse_name) as warehouse_name, -- Name of the warehouse
    day, -- Local day
    count(*) filter (where what = 'created') as shipments_created, -- Number of shipments created on the day
    count(*) filter (where what = 'packed') as shipments_packed, -- Number of shipments packed on the day
    count(is_on_time) filter (where what = 'due') as shipments_due, -- Number of shipments with this ship-by date that can be judged (is_on_time is true or false)
    count(*) filter (where what = 'due' and is_on_time) as shipments_on_time, -- Number of them that were shipped by that day
    count(*) filter (where what = 'shipped') as shipments_shipped, -- Number of shipped shipments
    sum(units_shipped) filter (where what = 'shipped') as units_shipped, -- Quantity shipped, in pieces; null if no item has a quantity
    coalesce(sum(packages) filter (where what = 'shipped'), 0)::bigint as packages, -- Number of packages
    sum(cost) filter (where what = 'shipped') as cost -- Amount charged by the carrier; no currency is sent. Null if the service sent none. For a package its part of the shipment's, by billed weight, or equal parts if a weight is missing
from happened
where day <= local_today
group by warehouse_id, day
