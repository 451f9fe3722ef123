-- grain: one row a page: the shipments that it became
-- source: the batch's Parquet file of shipments
select
    _page,
    count(*) as shipments
from read_parquet($file)
group by _page
