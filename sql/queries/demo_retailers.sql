-- grain: Retailers by number of shipments, with late shipments
-- source: marts.retailer_performance
select
    retailer_code as code,
    retailer_name as retailer,
    shipments,
    shipments_shipped as shipped,
    shipped_late as late,
    open_late
from marts.retailer_performance
order by shipments desc, code asc
limit 3
