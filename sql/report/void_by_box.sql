-- grain: one row per box of the last eight weeks, the ten that were used most
-- keys: box
-- source: marts.package_costs, ops.latest_load
select
    coalesce(costs.box_name, costs.container_style) as box,
    count(*) as packages,
    avg(costs.void_percent) as void_percent
from marts.package_costs as costs
inner join ops.latest_load
    on costs.left_day > latest_load.data_until::date - 56
where costs.void_percent is not null and coalesce(costs.box_name, costs.container_style) is not null
group by box
order by packages desc, box asc
limit 10
