-- grain: Retailers with volumes and lateness
-- source: marts.retailer_performance
select *
from marts.retailer_performance
limit 5
