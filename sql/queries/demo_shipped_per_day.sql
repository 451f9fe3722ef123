-- grain: Shipped a day and carrier, the last days
-- source: marts.shipped_per_day
select *
from marts.shipped_per_day
order by all desc
limit 5
