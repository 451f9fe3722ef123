-- grain: one row per shipment that the name may refer to, on any page
-- keys: id
-- source: every Parquet file of shipments
-- notes: $id is the name as an id, or null if it is not a number; if the name is the id of one shipment and the unique_id of another, the id wins
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
