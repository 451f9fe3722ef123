-- grain: one row per column of the connection's database
-- source: DuckDB's catalogue
select
    schema_name,
    table_name,
    column_name
from duckdb_columns()
where database_name = current_database()
