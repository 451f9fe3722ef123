-- grain: one row per version of each object that starts over, with its place in the one order of versions
-- keys: key, _window_id, _page
-- source: the root's Parquet files of every merged window, the stored table, and ops.loads
-- notes: names in braces are identifiers from the catalogue. The version with the last place wins: one that an audit or
--     a backfill voids comes before the version that it read
create or replace temp table placed as
with seen as (
    select
        {key} as key,
        _window_id,
        _page,
        {version} as version,
        _extracted_at,
        true as has_file
    from read_parquet($files, union_by_name = true)
    where {key} in (select contest.key from contest where contest.root = {name} and contest.starts_over)
    union all
    select
        {key},
        _window_id,
        _page,
        {version},
        _extracted_at,
        false
    from {table}
    where {key} in (select contest.key from contest where contest.root = {name} and contest.starts_over)
),

versions as (
    select
        seen.key,
        seen._window_id,
        seen._page,
        seen.version,
        seen._extracted_at,
        bool_or(seen.has_file) as has_file,
        coalesce(any_value(loads.reason) in ('audit', 'backfill'), false) as looked
    from seen
    left join ops.loads
        on seen._window_id = loads.window_id
    group by all
),

bounded as (
    select
        *,
        max(_extracted_at) filter (where looked) over (
            partition by key
            order by _extracted_at
            range between unbounded preceding and current row
        ) as last_look
    from versions
)

select
    key,
    _window_id,
    _page,
    has_file,
    row_number() over (
        partition by key
        order by last_look nulls first, version, _extracted_at, looked, _window_id, _page
    ) as place
from bounded
