-- grain: one row per carrier whose packages of the last eight weeks have a cost and a weight, the ten with the most packages
-- keys: carrier
-- source: marts.package_costs, marts.shipment_timeline
-- notes: the service sends no currency
select
    coalesce(costs.shipping_carrier_code, 'no carrier') as carrier,
    count(*) as packages,
    sum(costs.billable_kg) as kg,
    sum(costs.cost)::double as cost,
    sum(costs.cost)::double / sum(costs.billable_kg) as cost_per_kg
from marts.package_costs as costs
inner join marts.shipment_timeline as timeline
    on costs.shipment_id = timeline.shipment_id and costs.left_day > timeline.today - 56
where costs.has_left and costs.cost is not null and costs.billable_kg > 0
group by carrier
order by packages desc, carrier asc
limit 10
