-- question: What does shipping cost by country and region?
-- grain: one row per country and region of the shipping address; shipped shipments
select
    ship_to_country,
    ship_to_region,
    count(*) as shipments,
    count(cost) as shipments_with_cost,
    round(sum(cost), 4) as cost
from marts.shipments
where is_shipped
group by ship_to_country, ship_to_region
order by ship_to_country, ship_to_region
