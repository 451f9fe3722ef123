-- question: What does a shipment, and a kilogram, cost with each carrier?
-- grain: one row per carrier; shipped shipments
select
    carrier_code,
    count(*) as shipments,
    count(cost) as shipments_with_cost,
    round(sum(cost), 4) as cost,
    round(avg(cost), 4) as cost_per_shipment,
    round(sum(cost_by_kg) / sum(billed_kg), 4) as cost_per_kg
from marts.shipments
where is_shipped
group by carrier_code
order by carrier_code
