-- grain: one row, once the lock is ours
-- source: PostgreSQL's advisory locks
-- notes: taker is the function that locks; who is for those who wait, and read it in pg_stat_activity
select
    {taker}(hashtext({group}), hashtext(coalesce(current_schema(), '') || ' ' || {what})),
    {who} as who
