-- description: about how many rows each table has, with deleted ones, by its slug
-- Counting them would load which rows are deleted.
select
    if(schema_name = 'main', '', schema_name || '_') || table_name as slug,
    estimated_size as row_count
from duckdb_tables()
where database_name = current_database()
