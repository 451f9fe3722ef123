-- grain: one row
-- source: one Parquet file
-- notes: reads every value, so the query fails if a value cannot be read
select bit_xor(hash(held)) as digest
from read_parquet($file, union_by_name = true) as held
