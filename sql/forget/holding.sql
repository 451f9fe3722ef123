-- grain: one row a file that holds a row of a forgotten order
-- source: the Parquet files of a table of schema pii, and forgotten
-- notes: {key} is the table's column that holds the order
select distinct filename
from read_parquet($files, filename = true, union_by_name = true) as held
semi join forgotten on held.{key} = forgotten.order_id
order by filename
