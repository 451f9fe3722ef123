-- grain: one row per file that holds personal data of a forgotten order
-- source: the Parquet files of a table that belongs to orders, and forgotten
-- notes: {key} is the table's column with the order's id, {personal} the condition for personal data
select distinct filename
from read_parquet($files, filename = true, union_by_name = true) as held
semi join forgotten on held.{key} = forgotten.order_id
where {personal}
order by filename
