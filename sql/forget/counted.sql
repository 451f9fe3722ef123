-- grain: one row per file, with its number of rows
-- source: the Parquet files of a table of schema pii
select
    parse_filename(filename) as part,
    count(*) as held
from read_parquet($files, filename = true, union_by_name = true)
group by filename
