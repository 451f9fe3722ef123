-- grain: one row per row of the chosen versions
-- source: the table's Parquet files, and winners or late
-- notes: names in braces are identifiers from the catalogue; incoming is the query for the rows in the files
select {columns}
from (
    {incoming}
) as incoming
semi join {chosen} as chosen
    on incoming.{root_key} = chosen.key
    and incoming._page = chosen._page
    and incoming._window_id = chosen._window_id
