-- grain: one row per warehouse and week of the ship-by date, this week and the eight before
select
    warehouse_id as id,
    warehouse_name as "name",
    date_trunc('week', target_ship_date)::date as week,
    count(is_on_time) as due,
    count(*) filter (where is_on_time) as on_time
from marts.shipments
where is_on_time is not null and target_ship_date >= $since
group by warehouse_id, warehouse_name, week
order by "name", id, week
