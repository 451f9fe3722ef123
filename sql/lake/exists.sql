-- grain: one row: the lake's table of snapshots, null if there is no lake
-- source: PostgreSQL's catalogue
select to_regclass('lake.ducklake_snapshot')::varchar as snapshots
