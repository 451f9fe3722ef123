-- question: What does shipping cost by country and region?
-- grain: one row per country and region of the shipping address, of shipments that left; includes costs that cannot be divided among packages
-- source: marts.package_costs
select
    ship_to_country,
    ship_to_region,
    count(package_position) as packages,
    count(package_position) filter (where cost is null) as packages_without_cost,
    round(sum(cost), 4) as cost
from marts.package_costs
where has_left
group by ship_to_country, ship_to_region
order by ship_to_country, ship_to_region
