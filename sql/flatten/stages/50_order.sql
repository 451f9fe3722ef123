-- grain: one row per order of a page
-- source: included.Order
-- notes: the columns are the fields of type order
select *
from page."Order"
