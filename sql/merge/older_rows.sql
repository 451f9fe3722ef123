-- grain: one row a row of an occurrence that came late: what is stored is newer, and was read narrower
-- source: the table's Parquet files of the batch, and late
-- notes: names in braces are identifiers of the catalogue
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
