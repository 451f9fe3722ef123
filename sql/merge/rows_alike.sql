-- grain: one row per row of a table in Parquet files that all have the columns that flattening writes now
-- source: the table's Parquet files
-- notes: the name in braces is a parameter; this is planned in half the time of rows_in_files.sql
select * from read_parquet(${files})
