-- grain: no rows: frees the space of deleted rows, and samples what is left
-- source: the tables of the lake's catalogue that have values of columns
-- notes: PostgreSQL's, not DuckDB's. PostgreSQL itself keeps frequent values of a table in its statistics
vacuum (full, analyze) lake.ducklake_file_column_stats, lake.ducklake_table_column_stats
