-- question: What share of orders was on time and in full, by retailer?
-- grain: one row per retailer; the share counts only orders for which it is known
select
    retailer_id,
    any_value(retailer_code) as retailer_code,
    count(*) as orders,
    count(is_otif) as judged,
    avg(is_otif::int) as share_otif
from marts.orders
where retailer_id is not null
group by retailer_id
order by retailer_code, retailer_id
