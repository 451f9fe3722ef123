-- grain: no rows: frees the space of deleted rows
-- source: the tables of the lake's catalogue with values of columns, and PostgreSQL's own statistics, which may have
--     sampled such values before sampling was turned off
-- notes: runs in PostgreSQL, not in DuckDB. Only the owner of the database may rewrite PostgreSQL's statistics; for others
--     PostgreSQL skips them with a warning
vacuum (full) lake.ducklake_file_column_stats, lake.ducklake_table_column_stats, pg_catalog.pg_statistic
