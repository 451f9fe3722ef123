-- grain: one row per week in which shipments were shipped, the eight whole weeks
-- notes: an order whose shipments were shipped in two weeks counts in both
select
    date_trunc('week', shipped_day)::date as week,
    count(distinct order_id) as orders,
    sum(units_shipped)::double as units,
    avg(cost) as cost,
    count(*) filter (where cost is null) as without_cost
from marts.shipments
where shipped_day >= $since and shipped_day < $this_week
group by week
order by week
