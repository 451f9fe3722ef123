-- question: What share of orders was on time and in full, by retailer?
-- grain: one row per retailer; the share counts only orders for which it is known
-- source: marts.order_fulfillment
select
    retailer_code,
    count(*) as orders,
    count(otif) as decided,
    count(*) filter (where otif) as otif,
    count(*) filter (where otif) / nullif(count(otif), 0) as share
from marts.order_fulfillment
where retailer_id is not null
group by retailer_code
order by retailer_code
