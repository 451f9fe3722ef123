-- grain: one row per table of the lake that has rows or had some
-- keys: schema_name, table_name
-- source: the lake's catalogue in PostgreSQL
-- notes: as of the snapshot in braces; a file is counted without the rows that are deleted from it
with seen as (
    select {snapshot} as snapshot_id
)

select
    schemas.schema_name,
    tables.table_name,
    cast(sum(files.record_count - coalesce(deletions.delete_count, 0)) as bigint) as row_count
from seen
inner join lake.ducklake_data_file as files
    on files.begin_snapshot <= seen.snapshot_id and coalesce(files.end_snapshot > seen.snapshot_id, true)
inner join lake.ducklake_table as tables
    on files.table_id = tables.table_id and coalesce(tables.end_snapshot > seen.snapshot_id, true)
inner join lake.ducklake_schema as schemas
    on tables.schema_id = schemas.schema_id and coalesce(schemas.end_snapshot > seen.snapshot_id, true)
left join lake.ducklake_delete_file as deletions
    on
        files.data_file_id = deletions.data_file_id
        and deletions.begin_snapshot <= seen.snapshot_id
        and coalesce(deletions.end_snapshot > seen.snapshot_id, true)
group by schemas.schema_name, tables.table_name
