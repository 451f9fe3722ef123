-- grain: one row per row of a table in Parquet files
-- source: the table's Parquet files
-- notes: names in braces are identifiers from the catalogue; columns that older files lack are null
select * from {table} where false
union all by name
select * from read_parquet(${files}, union_by_name = true)
