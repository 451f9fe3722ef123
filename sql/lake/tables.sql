-- grain: one row per table of the lake in its newest snapshot: its data files, their bytes, and its delete files
-- keys: schema_name, table_name
-- source: the lake's catalogue in PostgreSQL
-- notes: a delete file stays in the catalogue after its data file has ended
select
    holding.schema_name,
    held.table_name,
    (
        select count(*)
        from lake.ducklake_data_file as stored
        where stored.table_id = held.table_id and stored.end_snapshot is null
    ) as data_files,
    (
        select coalesce(sum(stored.file_size_bytes), 0)::bigint
        from lake.ducklake_data_file as stored
        where stored.table_id = held.table_id and stored.end_snapshot is null
    ) as data_bytes,
    (
        select count(*)
        from lake.ducklake_delete_file as deleted
        inner join lake.ducklake_data_file as stored on deleted.data_file_id = stored.data_file_id
        where stored.table_id = held.table_id and stored.end_snapshot is null and deleted.end_snapshot is null
    ) as delete_files
from lake.ducklake_table as held
inner join lake.ducklake_schema as holding on held.schema_id = holding.schema_id
where held.end_snapshot is null and holding.end_snapshot is null
order by holding.schema_name, held.table_name
