-- grain: one row per page that contains one of the given missing shipments
-- source: Parquet files of shipments
select
    id,
    _extracted_at
from read_parquet($files, union_by_name = true)
where id in (select unnest($ids::bigint[]))
