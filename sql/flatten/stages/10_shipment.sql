-- grain: one row per shipment of a page
-- source: collection of a page
-- notes: the columns are the fields of type shipment
select *
from page.collection
