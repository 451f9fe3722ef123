-- grain: one row: the path of the lake's files
-- source: the lake's catalogue in PostgreSQL
select value as data_path
from lake.ducklake_metadata
where key = 'data_path' and scope is null
