-- grain: one row: the size of a block of the open file in bytes, and the numbers of all and of free blocks
-- source: DuckDB, as of the file's last checkpoint
select
    block_size,
    total_blocks,
    free_blocks
from pragma_database_size()
where database_name = current_database()
