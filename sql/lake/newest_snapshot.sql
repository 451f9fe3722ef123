-- grain: one row, about the newest snapshot of the lake with the bytes of its files; none before the first load
-- source: the lake's catalogue in PostgreSQL
-- notes: snapshot 0 is the empty lake
select
    snapshot_id as id,
    snapshot_time as at,
    (
        select coalesce(sum(file_size_bytes), 0)
        from lake.ducklake_data_file
        where end_snapshot is null
    ) as size
from lake.ducklake_snapshot
where snapshot_id > 0
order by snapshot_id desc
limit 1
