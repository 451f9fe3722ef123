-- grain: one row per merchant with something due, shipped or open past its day in the last two whole weeks
select
    merchant_id as id,
    merchant_name as "name",
    count(is_on_time) filter (where target_ship_date >= $last and target_ship_date < $this_week) as due,
    avg(is_on_time::int) filter (where target_ship_date >= $last and target_ship_date < $this_week) as on_time,
    avg(is_on_time::int) filter (where target_ship_date >= $before and target_ship_date < $last) as on_time_before,
    count(*) filter (where is_open and days_late > 0) as backlog,
    sum(units_shipped) filter (where shipped_day >= $last and shipped_day < $this_week)::double as units,
    sum(units_shipped) filter (where shipped_day >= $before and shipped_day < $last)::double as units_before
from marts.shipments
group by merchant_id, merchant_name
having due > 0 or backlog > 0 or units is not null or units_before is not null
order by due desc, backlog desc, "name" asc, id asc
limit 20
