-- grain: one row if a lake is attached by this name
-- source: DuckDB's catalogue
select 1
from duckdb_databases()
where database_name = {name} and "type" = 'ducklake'
