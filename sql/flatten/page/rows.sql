-- grain: one row per page: the number of shipments flattened from it
-- source: the batch's Parquet file of shipments
select
    _page,
    count(*) as shipments
from read_parquet($file)
group by _page
