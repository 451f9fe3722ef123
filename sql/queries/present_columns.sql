-- grain: one row per column of the open database
-- keys: schema_name, table_name, column_name
-- source: DuckDB's catalogue
select
    schema_name,
    table_name,
    column_name,
    data_type,
    comment
from duckdb_columns()
where database_name = current_database() and not internal
order by schema_name, table_name, column_index
