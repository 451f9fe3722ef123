-- grain: one row: the block size of the open file in bytes, the number of all and of free blocks, and of stored rows including deleted ones
-- source: DuckDB; blocks as of the file's last checkpoint
select
    block_size,
    total_blocks,
    free_blocks,
    (
        select sum(estimated_size)
        from duckdb_tables()
        where database_name = current_database() and schema_name in ('main', 'pii', 'ops')
    ) as rows_stored
from pragma_database_size()
where database_name = current_database()
