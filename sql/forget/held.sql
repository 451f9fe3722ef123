-- grain: one row: how many rows of a table are personal of forgotten orders
-- source: a table that belongs to orders, and forgotten
-- notes: {key} is the table's column that holds the order, {personal} tells such a row; names in braces are identifiers of the catalogue
select count(*)
from {table} as held
semi join forgotten on held.{key} = forgotten.order_id
where {personal}
