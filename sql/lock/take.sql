-- grain: one row: whether this session holds the lock now
-- source: PostgreSQL's advisory locks
-- notes: waiting processes read who in pg_stat_activity
select
    pg_try_advisory_lock(hashtext('wms-sync lock'), hashtext(coalesce(current_schema(), '') || ' ' || {what})),
    {who} as who
