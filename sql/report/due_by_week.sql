-- grain: one row per warehouse and week of the last eight, with what became of the shipments promised for its days
-- keys: warehouse, week
-- source: marts.due_per_day, ops.latest_load
-- notes: the six warehouses with most shipments, with their ids where names are equal; a week begins on Monday. Days that are not over count only what has left
with latest as (
    select data_until::date as today
    from ops.latest_load
),

weeks as (
    select
        warehouse_id,
        warehouse_name,
        date_trunc('week', day)::date as week,
        sum(on_time)::bigint as on_time,
        sum(late)::bigint as late,
        coalesce(sum(still_open) filter (where is_over), 0)::bigint as still_open
    from marts.due_per_day
    inner join latest
        on
            day > date_trunc('week', latest.today)::date - 56
            and day <= latest.today
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
    order by shipments desc, warehouse asc
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
