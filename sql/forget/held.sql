-- grain: one row: the number of rows of a table that hold personal data of forgotten orders
-- source: a table that belongs to orders, and forgotten
-- notes: {key} is the table's column with the order's id, {personal} the condition for personal data; names in braces are identifiers from the catalogue
select count(*)
from {table} as held
semi join forgotten on held.{key} = forgotten.order_id
where {personal}
