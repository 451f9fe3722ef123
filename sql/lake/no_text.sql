-- grain: one row if the column of a row of statistics is not text
-- source: the lake's catalogue in PostgreSQL
-- notes: same is the condition for the same column in a table of statistics
select 1
from lake.ducklake_column as described
where described.column_type not in ('varchar', 'json', 'blob') and {same}
