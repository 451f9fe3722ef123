-- grain: one row
-- source: the metadata of one Parquet file
select count(*) > 0 as is_marked
from parquet_kv_metadata($file)
where decode(key) = $key and decode(value) = $value
