-- question: What does a package, and a kilogram, cost with each carrier?
-- grain: one row per carrier for packages that left and have a cost, and one for costs that cannot be divided among packages; the cost per kg counts
--     packages with a billed weight
-- source: marts.package_costs
select
    shipping_carrier_code,
    package_position is not null as is_of_packages,
    count(package_position) as packages,
    round(sum(cost), 4) as cost,
    round(avg(cost) filter (where package_position is not null), 4) as cost_per_package,
    round(sum(cost) filter (where billable_kg > 0) / sum(billable_kg), 4) as cost_per_kg
from marts.package_costs
where has_left and cost is not null
group by shipping_carrier_code, is_of_packages
order by shipping_carrier_code asc, is_of_packages desc
