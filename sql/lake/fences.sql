-- grain: one row: the source of the function that refuses late writers, null if there is none, and of the tables that
--     have its trigger
-- source: PostgreSQL's catalogue
-- notes: the text of a regclass has its schema only if the search path lacks it
select
    (
        select prosrc
        from pg_proc
        where oid = to_regprocedure('lake.wms_fence()')
    ) as source,
    array(
        select held.nspname || '.' || fenced.relname
        from pg_trigger
        inner join pg_class as fenced on pg_trigger.tgrelid = fenced.oid
        inner join pg_namespace as held on fenced.relnamespace = held.oid
        where pg_trigger.tgname = 'wms_fence' and not pg_trigger.tgisinternal
    ) as tables
