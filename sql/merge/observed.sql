-- grain: one row per occurrence of an object on a page: the tracked columns, and the columns that order versions
-- keys: id, _window_id, _page
-- source: the root's Parquet files, and ops.loads for the reason of each window
-- notes: names in braces are identifiers from the catalogue; incoming is the query for the rows, and only
--     is the condition for the verdicts of the wanted objects
select
    incoming.{key} as id,
    {columns},
    incoming.{updated_at} as updated_at,
    {version} as said_at,
    least(coalesce(incoming.{updated_at}, incoming._extracted_at), incoming._extracted_at) as began_at,
    incoming._extracted_at as seen_at,
    coalesce(loads.reason in ('audit', 'backfill'), false) as looked,
    incoming._window_id,
    incoming._page
from (
    {incoming}
) as incoming
left join ops.loads
    on incoming._window_id = loads.window_id
where incoming.{key} in (select contest.key from contest where contest.root = {name} and contest.{only})
