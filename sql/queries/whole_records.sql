-- grain: one row: the shipments that stand in quarantine as a whole
-- source: a window's Parquet files of ops.quarantine
select count(*) as records
from read_parquet($files, union_by_name = true)
where regexp_full_match(path, '.\.collection\[[0-9]+\]')
