-- grain: Retailers by number of shipments
-- source: marts.shipments
select
    retailer_code as code,
    retailer_name as retailer,
    count(*) filter (where is_live) as shipments,
    count(*) filter (where is_shipped) as shipped,
    round(100 * avg(is_on_time::int), 1) as on_time_percent
from marts.shipments
where retailer_id is not null
group by retailer_id, retailer_code, retailer_name
order by shipments desc, code asc
limit 3
