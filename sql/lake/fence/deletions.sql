-- grain: no rows: the trigger that refuses to remove files from the list of files to delete
-- source: runs in PostgreSQL, not in DuckDB
create trigger wms_fence before delete on lake.ducklake_files_scheduled_for_deletion
for each statement execute function lake.wms_fence()
