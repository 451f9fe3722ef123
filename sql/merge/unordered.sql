-- grain: one row per observed object with history whose occurrences do not simply follow its known versions
-- keys: id
-- source: observed, latest, and the stored table, which has the last version in the order
-- notes: names in braces are identifiers from the catalogue. An occurrence follows if it was read after all known ones
--     and ranks after the last of them: by the order of merging (contest.sql), or because an audit or a backfill of
--     these windows read it first
create or replace temp table unordered as
with bounded as (
    select
        *,
        min(seen_at) filter (where looked) over (partition by id) as first_look
    from observed
),

stored as (
    select
        {key} as id,
        {version} as said_at,
        _extracted_at as seen_at,
        coalesce(loads.reason in ('audit', 'backfill'), false) as looked,
        _window_id,
        _page
    from {table}
    left join ops.loads
        on _window_id = loads.window_id
    where {key} in (select latest.id from latest)
)

select distinct bounded.id
from bounded
inner join latest
    on bounded.id = latest.id
left join stored
    on bounded.id = stored.id
where
    bounded.seen_at < latest.known_seen_at
    or (bounded.looked and bounded.seen_at = latest.known_seen_at)
    or (
        coalesce(bounded.seen_at < bounded.first_look, true)
        and (bounded.said_at, bounded.seen_at, bounded.looked, bounded._window_id, bounded._page)
        <= (stored.said_at, stored.seen_at, stored.looked, stored._window_id, stored._page)
    )
