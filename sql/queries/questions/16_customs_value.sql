-- question: What customs value was shipped, by country and currency?
-- grain: one row per country and currency; orders with a shipped shipment. Different currencies are not added up
select
    ship_to_country,
    customs_value_currency,
    count(*) as orders,
    sum(customs_value_amount) as customs_value
from marts.orders
where is_shipped and customs_value_amount is not null
group by ship_to_country, customs_value_currency
order by ship_to_country, customs_value_currency
