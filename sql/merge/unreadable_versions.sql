-- grain: one row per known version of an object that starts over, if no file shows the page of that version any more
-- keys: id, _window_id, _page
-- source: the table with the history of objects, and observed
-- notes: names in braces are identifiers from the catalogue. These versions stay, because nothing can recompute them
insert into observed by name
select
    id,
    {columns},
    updated_at,
    coalesce(updated_at, seen_at - {settling}) as said_at,
    least(coalesce(updated_at, seen_at), seen_at) as began_at,
    seen_at,
    coalesce(loads.reason in ('audit', 'backfill'), false) as looked,
    _window_id,
    _page
from {history}
left join ops.loads
    on _window_id = loads.window_id
where
    id in (select contest.key from contest where contest.root = {name} and contest.starts_over)
    and not exists (
        select 1
        from observed
        where observed.id = {history}.id and observed._window_id = {history}._window_id and observed._page = {history}._page
    )
