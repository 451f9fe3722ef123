-- grain: one row per warehouse and week of the eight whole weeks before this week, with the outcome of the shipments promised for its days
-- keys: warehouse, week
-- source: marts.due_per_day, marts.shipment_timeline
-- notes: the six warehouses with the most shipments, with their ids if names are equal; a week begins on Monday. Weeks and days are local to the warehouse
with today as (
    select
        warehouse_id,
        any_value(today) as today
    from marts.shipment_timeline
    group by warehouse_id
),

weeks as (
    select
        due.warehouse_id,
        due.warehouse_name,
        date_trunc('week', due.day)::date as week,
        sum(due.on_time)::bigint as on_time,
        sum(due.late)::bigint as late,
        sum(due.still_open)::bigint as still_open
    from marts.due_per_day as due
    inner join today
        on
            due.warehouse_id is not distinct from today.warehouse_id
            and due.day >= date_trunc('week', today.today)::date - 56
            and due.day < date_trunc('week', today.today)::date
    group by all
),

warehouses as (
    select
        warehouse_id,
        warehouse_name,
        sum(on_time + late + still_open) as shipments
    from weeks
    group by warehouse_id, warehouse_name
),

largest as (
    select
        warehouse_id,
        case
            when count(*) over (partition by warehouse_name) > 1 then warehouse_name || ' (' || warehouse_id || ')'
            else warehouse_name
        end as named,
        coalesce(named, 'warehouse ' || warehouse_id, 'no warehouse') as warehouse
    from warehouses
    order by shipments desc, warehouse_id asc
    limit 6
)

select
    largest.warehouse,
    weeks.week,
    weeks.on_time,
    weeks.late,
    weeks.still_open
from weeks
inner join largest
    on weeks.warehouse_id is not distinct from largest.warehouse_id
where weeks.on_time + weeks.late + weeks.still_open > 0
order by largest.warehouse, weeks.week
