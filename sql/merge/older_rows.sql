-- grain: the batch's rows of the objects in late, whose stored version is newer but was read with a narrowed field selection
-- source: the table's Parquet files of the batch, and late
-- notes: names in braces are identifiers from the catalogue
create or replace temp table {kept} as
select {columns}
from (
    select * from {table} where false
    union all by name
    select * from read_parquet($files, union_by_name = true)
) as incoming
semi join late
    on incoming.{root_key} = late.key
    and incoming._page = late._page
    and incoming._window_id = late._window_id
