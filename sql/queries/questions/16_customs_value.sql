-- question: What customs value left, by country and currency?
-- grain: one row per country and currency; orders with a shipment that left. Different currencies are not added up
-- source: marts.order_fulfillment
select
    ship_to_country,
    customs_value_currency,
    count(*) as orders,
    sum(customs_value_amount) as customs_value
from marts.order_fulfillment
where shipments_left > 0 and customs_value_amount is not null
group by ship_to_country, customs_value_currency
order by ship_to_country, customs_value_currency
