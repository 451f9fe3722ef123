-- grain: no rows: narrows the minimum and maximum text value of each column to the files of the newest snapshot
-- source: the lake's catalogue in PostgreSQL
-- notes: runs in PostgreSQL, not in DuckDB. DuckLake widens these values with each file and never narrows them, so a
--     removed value would stay. They become null if a file has no statistics
update lake.ducklake_table_column_stats as known
set
    min_value = found.least,
    max_value = found.greatest
from (
    select
        described.table_id,
        described.column_id,
        case when count(stored.data_file_id) = count(told.min_value) then min(told.min_value collate "C") end as least,
        case
            when count(stored.data_file_id) = count(told.max_value) then max(told.max_value collate "C")
        end as greatest
    from lake.ducklake_column as described
    left join lake.ducklake_data_file as stored
        on described.table_id = stored.table_id and stored.end_snapshot is null
    left join lake.ducklake_file_column_stats as told
        on stored.data_file_id = told.data_file_id and described.column_id = told.column_id
    where described.end_snapshot is null and described.column_type in ('varchar', 'json', 'blob')
    group by described.table_id, described.column_id
) as found
where known.table_id = found.table_id and known.column_id = found.column_id
