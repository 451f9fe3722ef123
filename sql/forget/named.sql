-- grain: one row per window, with its number of rows and whether a row refers to an order of $ids
-- keys: window_id
-- source: the Parquet files of shipments or orders
-- notes: {key} is the table's column with the order's id
select
    _window_id as window_id,
    count(*) as row_count,
    coalesce(bool_or({key} in (select unnest($ids::bigint[]))), false) as is_named
from read_parquet($files, union_by_name = true)
group by _window_id
