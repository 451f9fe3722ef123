-- grain: no rows: has PostgreSQL keep no values of these columns in its own statistics, and remove those that it has
-- source: a table of the lake's catalogue with values of columns
-- notes: PostgreSQL's, not DuckDB's. A changed type removes what was kept, and the same type rewrites nothing. table is
--     the name of the table
alter table lake.{table}
alter column min_value set data type varchar,
alter column min_value set statistics 0,
alter column max_value set data type varchar,
alter column max_value set statistics 0
