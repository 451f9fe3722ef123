-- grain: one row per column of a view, with its comment
-- keys: schema_name, table_name, column_name
-- source: sql/marts
-- notes: DuckLake 1.0 keeps comments on tables, columns of tables and views, but not on columns of views
create table if not exists ops.columns (
    schema_name varchar not null, -- Schema of the view.
    table_name varchar not null, -- Name of the view.
    column_name varchar not null, -- Name of the column.
    comment varchar not null -- Description, unit and source of the column.
)
