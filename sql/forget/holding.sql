-- grain: one row a file that holds a row that is personal of a forgotten order
-- source: the Parquet files of a table that belongs to orders, and forgotten
-- notes: {key} is the table's column that holds the order, {personal} tells such a row
select distinct filename
from read_parquet($files, filename = true, union_by_name = true) as held
semi join forgotten on held.{key} = forgotten.order_id
where {personal}
order by filename
