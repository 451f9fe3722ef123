-- question: Which shipping method was requested, and which is used?
-- grain: one row per requested method and used method, of shipped shipments
select
    ordered_shipping_method,
    shipping_method,
    count(*) as shipments
from marts.shipments
where is_shipped and ordered_shipping_method is not null and shipping_method is not null
group by ordered_shipping_method, shipping_method
order by ordered_shipping_method, shipping_method
