-- grain: one row per retailer with shipments due in the four whole weeks, the ten with the most
select
    retailer_id as id,
    coalesce(retailer_name, retailer_code) as "name",
    count(is_on_time) filter (where target_ship_date >= $month) as due,
    avg(is_on_time::int) filter (where target_ship_date >= $month) as on_time,
    count(is_on_time) filter (where target_ship_date < $month) as due_before,
    avg(is_on_time::int) filter (where target_ship_date < $month) as on_time_before
from marts.shipments
where retailer_id is not null and target_ship_date >= $since and target_ship_date < $this_week
group by retailer_id, "name"
having due > 0
order by due desc, id asc
limit 10
