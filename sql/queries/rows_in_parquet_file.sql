-- grain: one row
-- source: the footer of one Parquet file
select coalesce(sum(num_rows), 0) as number_of_rows
from parquet_file_metadata($file)
