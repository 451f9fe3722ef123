-- question: What share of due shipments left on time, by warehouse and week?
-- grain: one row per warehouse and local week of the due day, for days that are over
-- source: marts.due_per_day
select
    warehouse_name,
    date_trunc('week', day)::date as week,
    sum(due)::bigint as due,
    sum(on_time)::bigint as on_time,
    sum(late)::bigint as late,
    sum(still_open)::bigint as still_open,
    sum(on_time) / nullif(sum(due), 0) as share_on_time
from marts.due_per_day
where is_over
group by warehouse_id, warehouse_name, date_trunc('week', day)
order by week, warehouse_name
