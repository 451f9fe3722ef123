-- grain: one row per session that holds the lock
-- source: PostgreSQL's advisory locks and sessions
-- notes: statement is the session's last statement, which names the holder
select activity.query as statement
from pg_locks as held
inner join pg_stat_activity as activity using (pid)
where
    held.granted
    and held.locktype = 'advisory'
    and held.database = (
        select oid
        from pg_database
        where datname = current_database()
    )
    and held.classid = hashtext('wms-sync lock')::oid
    and held.objid = hashtext(coalesce(current_schema(), '') || ' ' || {what})::oid
    and held.objsubid = 2
