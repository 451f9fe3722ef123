-- grain: one row: number of shipment records that are quarantined whole
-- source: a window's Parquet files of ops.quarantine
select count(*) as records
from read_parquet($files, union_by_name = true)
where regexp_full_match(path, '.\.collection\[[0-9]+\]')
