-- question: What share of due shipments was shipped on time, by warehouse and week?
-- grain: one row per warehouse and local week of the ship-by date, for days that are over
select
    warehouse_name,
    date_trunc('week', target_ship_date)::date as week,
    count(is_on_time) as due,
    avg(is_on_time::int) as share_on_time
from marts.shipments
where is_on_time is not null
group by warehouse_id, warehouse_name, week
order by week, warehouse_name
