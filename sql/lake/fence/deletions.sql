-- grain: no rows: the trigger that refuses to take files off the list of those that are to be deleted
-- source: PostgreSQL's, not DuckDB's
create trigger wms_fence before delete on lake.ducklake_files_scheduled_for_deletion
for each statement execute function lake.wms_fence()
