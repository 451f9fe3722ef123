-- grain: one row a row of a table that does not belong to a forgotten order
-- source: a table of schema pii, as it is stored or as one of its Parquet files, and forgotten
-- notes: {key} is the table's column that holds the order; names in braces are identifiers of the catalogue
select {columns}
from {source} as held
anti join forgotten on held.{key} = forgotten.order_id
