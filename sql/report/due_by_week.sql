-- grain: one row per warehouse and week of the last eight, with what became of the shipments promised for its days
-- keys: warehouse, week
-- source: marts.due_per_day, ops.latest_load
-- notes: the six warehouses with most shipments; a week begins on Monday. Days that are not over count only what has left
with latest as (
    select data_until::date as today
    from ops.latest_load
),

weeks as (
    select
        coalesce(warehouse_name, 'no warehouse') as warehouse,
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

largest as (
    select warehouse
    from weeks
    group by warehouse
    order by sum(on_time + late + still_open) desc, warehouse asc
    limit 6
)

select weeks.*
from weeks
semi join largest
    on weeks.warehouse = largest.warehouse
where weeks.on_time + weeks.late + weeks.still_open > 0
order by weeks.warehouse, weeks.week
