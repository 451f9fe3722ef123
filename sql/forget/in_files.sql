-- grain: one row per order of $ids in a Parquet file
-- keys: id
-- source: the Parquet files of orders
select distinct id
from read_parquet($files, union_by_name = true)
where id in (select unnest($ids::bigint[]))
