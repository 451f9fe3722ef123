-- grain: one row per column of one database
-- source: DuckDB's catalogue; {database} is the name of the database as a literal
select
    schema_name,
    table_name,
    column_name
from duckdb_columns()
where database_name = {database}
