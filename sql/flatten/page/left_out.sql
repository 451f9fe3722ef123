-- grain: one row per page: the number of shipments that were quarantined whole
-- source: the batch's Parquet file of ops.quarantine
-- notes: the path of such a record is its position on the page
select
    _page,
    count(*) as shipments
from read_parquet($file)
where regexp_full_match(path, '\$\.collection\[\d+\]')
group by _page
