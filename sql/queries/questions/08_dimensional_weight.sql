-- question: How much weight is billed beyond that of the items, because packages are large?
-- grain: one row per carrier; packages of shipped shipments whose weights are known
select
    shipments.carrier_code,
    count(*) as packages,
    count(*) filter (where packages.excess_kg > 0) as packages_with_excess,
    round(sum(packages.excess_kg), 4) as excess_kg,
    round(sum(packages.excess_cost), 4) as excess_cost
from marts.packages
inner join marts.shipments on packages.shipment_id = shipments.shipment_id
where shipments.is_shipped and packages.excess_kg is not null
group by shipments.carrier_code
order by shipments.carrier_code
