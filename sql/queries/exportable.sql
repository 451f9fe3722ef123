-- grain: one row per column of a table or view
-- keys: schema_name, relation_name, column_name
-- source: DuckDB's own catalogue
with relations as (
    select
        schema_name,
        view_name as relation_name,
        comment
    from duckdb_views()
    where not internal and database_name = current_database()
    union all by name
    select
        schema_name,
        table_name as relation_name,
        comment
    from duckdb_tables()
    where not internal and database_name = current_database()
)

select
    relations.schema_name,
    relations.relation_name,
    relations.comment as relation_comment,
    columns.column_name,
    columns.data_type,
    columns.comment
from relations
inner join duckdb_columns() as columns
    on
        relations.schema_name = columns.schema_name
        and relations.relation_name = columns.table_name
        and columns.database_name = current_database()
order by relations.schema_name, relations.relation_name, columns.column_index
