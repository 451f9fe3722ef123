-- grain: one row per session that has a lock on the statistics of the lake, or on PostgreSQL's own
-- keys: pid
-- source: PostgreSQL's locks
select distinct held.pid
from pg_locks as held
inner join pg_database as present on held.database = present.oid
where
    held.granted
    and present.datname = current_database()
    and held.pid <> pg_backend_pid()
    and held.relation in (
        'lake.ducklake_file_column_stats'::regclass,
        'lake.ducklake_table_column_stats'::regclass,
        'pg_catalog.pg_statistic'::regclass
    )
order by held.pid
