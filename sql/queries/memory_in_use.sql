-- grain: one row: the bytes of memory that changes take, and that everything takes
-- source: duckdb_memory(), with what is spilled
with used as (
    select
        memory_usage_bytes + temporary_storage_bytes as size,
        tag in ('BASE_TABLE', 'EXTERNAL_FILE_CACHE') as was_only_read
    from duckdb_memory()
)

select
    sum(if(was_only_read, 0, size)) as changed,
    sum(size) as everything
from used
