-- question: Which shipping method was requested, and which is used?
-- grain: one row per requested method and used method, of shipments that left
-- source: marts.shipment_overview
select
    order_shipping_method,
    shipping_method,
    count(*) as shipments
from marts.shipment_overview
where shipped_at_source is not null and order_shipping_method is not null and shipping_method is not null
group by order_shipping_method, shipping_method
order by order_shipping_method, shipping_method
