-- grain: one row: where the files of the lake are
-- source: the lake's catalogue in PostgreSQL
select value as data_path
from lake.ducklake_metadata
where key = 'data_path' and scope is null
