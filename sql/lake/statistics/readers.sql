-- grain: one row per session that has a lock on the statistics of the lake
-- keys: pid
-- source: PostgreSQL's locks
select distinct held.pid
from pg_locks as held
where
    held.granted
    and held.pid <> pg_backend_pid()
    and held.relation in (
        'lake.ducklake_file_column_stats'::regclass, 'lake.ducklake_table_column_stats'::regclass
    )
order by held.pid
