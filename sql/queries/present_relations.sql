-- grain: one row per table or view of the open database
-- keys: schema_name, name
-- source: DuckDB's catalogue
-- notes: definition is empty for a table
select
    schema_name,
    table_name as "name",
    '' as definition,
    comment
from duckdb_tables()
where database_name = current_database() and not internal
union all
select
    schema_name,
    view_name,
    "sql",
    comment
from duckdb_views()
where database_name = current_database() and not internal
order by schema_name, "name"
