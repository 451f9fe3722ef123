-- grain: one row per doubtful object with a winning version, from any window
-- keys: key
-- source: the root's Parquet files of every merged window, the stored table, and ops.loads
-- notes: names in braces are identifiers from the catalogue; versions read before $first_read cannot win:
--     the stored version beat them, or was voided together with them
insert into winners
with seen as (
    select
        {key} as key,
        _window_id,
        _page,
        {version} as version,
        _extracted_at
    from read_parquet($files, union_by_name = true)
    where _extracted_at >= $first_read and {key} in (select contest.key from contest where contest.root = {name} and contest.outcome = 'doubtful')
    union
    select
        {key},
        _window_id,
        _page,
        {version},
        _extracted_at
    from {table}
    where {key} in (select contest.key from contest where contest.root = {name} and contest.outcome = 'doubtful')
),

versions as (
    select
        seen.*,
        coalesce(loads.reason in ('audit', 'backfill'), false) as looked
    from seen
    left join ops.loads
        on seen._window_id = loads.window_id
),

bounded as (
    select
        *,
        max(_extracted_at) filter (where looked) over (partition by key) as last_looked
    from versions
),

best as (
    select *
    from bounded
    where last_looked is null or _extracted_at >= last_looked
    qualify row_number() over (
        partition by key
        order by version desc, _extracted_at desc, looked desc, _window_id desc, _page desc
    ) = 1
)

select
    best.key,
    best._window_id,
    best._page
from best
anti join {table} as stored
    on best.key = stored.{key}
    and best._window_id = stored._window_id
    and best._page = stored._page
