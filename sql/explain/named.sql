-- grain: one row a shipment that the name may mean, on whatever page it was seen
-- keys: id
-- source: every Parquet file of shipments
-- notes: bound are what is asked for as an id (null where it is none) and as a unique_id; a name that is the id of one shipment and the unique_id of another means the id
with named as (
    select
        id,
        id = $id as by_id
    from read_parquet($files, union_by_name = true)
    where id = $id or unique_id = $unique_id
)

select distinct id
from named
qualify rank() over (order by by_id desc) = 1
order by id
