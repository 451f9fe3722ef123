-- grain: one row per column
-- source: the Parquet files of a table
select distinct "name"
from parquet_schema($files)
