-- grain: no rows: the trigger that refuses a commit, and the expiry of snapshots
-- source: runs in PostgreSQL, not in DuckDB
create trigger wms_fence before insert or delete on lake.ducklake_snapshot
for each statement execute function lake.wms_fence()
