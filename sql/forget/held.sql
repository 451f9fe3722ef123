-- grain: one row: how many rows of a table belong to forgotten orders
-- source: a table of schema pii, and forgotten
-- notes: {key} is the table's column that holds the order; names in braces are identifiers of the catalogue
select count(*)
from {table} as held
semi join forgotten on held.{key} = forgotten.order_id
