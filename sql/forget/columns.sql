-- grain: one row a column of one database
-- source: the catalogue of DuckDB; the database's name is in braces
select
    schema_name,
    table_name,
    column_name
from duckdb_columns()
where database_name = {database}
