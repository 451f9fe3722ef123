-- grain: one row per unordered object whose stored version stands in no file any more
-- keys: id
-- source: the stored table, and ops.loads for why its window was read
-- notes: names in braces are identifiers from the catalogue
insert into observed by name
select
    stored.{key} as id,
    {columns},
    stored.{updated_at} as updated_at,
    {version} as said_at,
    stored._extracted_at as seen_at,
    coalesce(loads.reason in ('audit', 'backfill'), false) as looked,
    stored._window_id,
    stored._page
from {table} as stored
left join ops.loads
    on stored._window_id = loads.window_id
anti join observed
    on stored.{key} = observed.id and stored._window_id = observed._window_id and stored._page = observed._page
where stored.{key} in (select unordered.id from unordered)
