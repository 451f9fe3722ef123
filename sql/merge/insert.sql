-- source: the table's Parquet files of the batch and winners
-- notes: names in braces are identifiers of the catalogue
insert into {table} ({columns})
select {columns}
from read_parquet($files) as incoming
semi join winners
    on incoming.{root_key} = winners.key
    and incoming._page = winners._page
    and incoming._window_id = winners._window_id
