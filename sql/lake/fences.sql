-- grain: one row: the source of the function that refuses late writers, null if there is none, and of the tables that
--     have its trigger
-- source: PostgreSQL's catalogue
select
    (
        select prosrc
        from pg_proc
        where oid = to_regprocedure('lake.wms_fence()')
    ) as source,
    array(
        select tgrelid::regclass::varchar
        from pg_trigger
        where tgname = 'wms_fence' and not tgisinternal
    ) as tables
