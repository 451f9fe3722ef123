-- grain: one row per table of the lake that has rows or had some
-- keys: schema_name, table_name
-- source: the lake's catalogue in PostgreSQL
-- notes: as of the snapshot in braces; a file is counted without the rows that are deleted from it
select
    schemas.schema_name,
    tables.table_name,
    sum(files.record_count - coalesce(deletions.delete_count, 0))::bigint as row_count
from lake.ducklake_data_file as files
inner join lake.ducklake_table as tables
    on files.table_id = tables.table_id
inner join lake.ducklake_schema as schemas
    on tables.schema_id = schemas.schema_id
left join lake.ducklake_delete_file as deletions
    on
        files.data_file_id = deletions.data_file_id
        and deletions.begin_snapshot <= {snapshot}
        and coalesce(deletions.end_snapshot > {snapshot}, true)
where
    files.begin_snapshot <= {snapshot} and coalesce(files.end_snapshot > {snapshot}, true)
    and coalesce(tables.end_snapshot > {snapshot}, true) and coalesce(schemas.end_snapshot > {snapshot}, true)
group by schemas.schema_name, tables.table_name
