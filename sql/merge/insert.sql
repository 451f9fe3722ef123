-- source: the table's Parquet files of the batch and winners
-- notes: names in braces are identifiers from the catalogue; columns that older files lack are null
insert into {table} ({columns})
select {columns}
from (
    select * from {table} where false
    union all by name
    select * from read_parquet($files, union_by_name = true)
) as incoming
semi join winners
    on incoming.{root_key} = winners.key
    and incoming._page = winners._page
    and incoming._window_id = winners._window_id
