-- grain: one row where the column of a row of statistics is no text
-- source: the lake's catalogue in PostgreSQL
-- notes: same is the condition that it is the same column, in a table of the catalogue with statistics
select 1
from lake.ducklake_column as described
where described.column_type not in ('varchar', 'json', 'blob') and {same}
