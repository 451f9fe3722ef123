-- question: What does a package, and a kilogram, cost with each carrier?
-- grain: one row per carrier; packages that left and have a cost; per kg those that have a billed weight too
-- source: marts.package_costs
select
    shipping_carrier_code,
    count(*) as packages,
    round(sum(cost), 4) as cost,
    round(avg(cost), 4) as cost_per_package,
    round(sum(cost) filter (where billable_kg > 0) / sum(billable_kg), 4) as cost_per_kg
from marts.package_costs
where has_left and cost is not null
group by shipping_carrier_code
order by shipping_carrier_code
