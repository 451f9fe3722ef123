-- question: How much weight is billed beyond that of the items, because packages are large?
-- grain: one row per carrier; packages that left and whose weights are known
-- source: marts.package_costs
select
    shipping_carrier_code,
    count(*) as packages,
    count(*) filter (where excess_lb > 0) as packages_with_excess,
    round(sum(excess_lb), 4) as excess_lb,
    round(sum(cost * excess_lb / nullif(billable_lb, 0)), 4) as cost_of_excess
from marts.package_costs
where has_left and excess_lb is not null
group by shipping_carrier_code
order by shipping_carrier_code
