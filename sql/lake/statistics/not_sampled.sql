-- grain: no rows: stops PostgreSQL from sampling values of these columns, and removes the sampled values
-- source: a table of the lake's catalogue with values of columns
-- notes: runs in PostgreSQL, not in DuckDB. Setting the type removes sampled values, and the same type rewrites no row. table
--     is the name of the table
alter table lake.{table}
alter column min_value set data type varchar,
alter column min_value set statistics 0,
alter column max_value set data type varchar,
alter column max_value set statistics 0
