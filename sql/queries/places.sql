-- grain: one row per table: how many rows were written to it, with those that were deleted and keep their place
-- keys: schema_name, table_name
-- source: duckdb_tables(), from the metadata
select
    schema_name,
    table_name,
    estimated_size
from duckdb_tables()
where database_name = current_database()
