-- grain: one row a page that shows a shipment of which it is known that it was missing
-- source: Parquet files of shipments
select
    id,
    _extracted_at
from read_parquet($files, union_by_name = true)
where id in (select unnest($ids::bigint[]))
