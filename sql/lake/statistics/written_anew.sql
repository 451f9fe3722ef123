-- grain: no rows: frees the space of deleted rows
-- source: the tables of the lake's catalogue that have values of columns, and PostgreSQL's own statistics, which had
--     such values if a release that let PostgreSQL sample them has made the lake
-- notes: PostgreSQL's, not DuckDB's. The owner of the database may write PostgreSQL's statistics anew; for others it
--     leaves them as they are, with a warning
vacuum (full) lake.ducklake_file_column_stats, lake.ducklake_table_column_stats, pg_catalog.pg_statistic
