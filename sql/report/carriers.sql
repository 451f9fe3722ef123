-- grain: one row per carrier of the eight whole weeks, the ten with the most shipments
-- notes: voided labels are those of shipments that were created in these weeks
select
    carrier_code,
    count(shipped_day) as shipments,
    sum(cost) filter (where shipped_day is not null) as cost,
    count(*) filter (where shipped_day is not null and cost is null) as without_cost,
    sum(cost_by_kg) filter (where shipped_day is not null) / sum(billed_kg) filter (where shipped_day is not null) as cost_per_kg,
    count(is_on_time) as due,
    avg(is_on_time::int) as on_time,
    count(*) filter (where is_voided) as voided
from marts.shipments
where coalesce(shipped_day, created_day) >= $since and coalesce(shipped_day, created_day) < $this_week
group by carrier_code
order by shipments desc, carrier_code asc
limit 10
