-- grain: one row per version of an observed object, from the latest known version on
-- keys: id, version
-- source: latest and observed
-- notes: names in braces are identifiers from the catalogue; filled are the tracked columns, which keep the value of
--     the previous version if a window omits them. The order is that of merging (contest.sql), extended to versions
--     that an audit or a backfill voids: they come before the version that it read. Adjacent occurrences that agree in
--     all tracked columns are one version. It is valid from its updated_at, or from the time of reading if updated_at
--     is missing, later than the time of reading, or not after that of earlier versions
insert into {history} by name
with entries as (
    select
        id,
        {columns},
        updated_at,
        said_at,
        said_at as began_at,
        seen_at,
        last_seen_at,
        null::boolean as looked,
        _window_id,
        _page,
        version as known_version,
        valid_from as known_from
    from latest
    where id in (select observed.id from observed)
    union all by name
    select
        *,
        seen_at as last_seen_at
    from observed
),

bounded as (
    select
        *,
        max(seen_at) filter (where looked) over (
            partition by id
            order by seen_at
            range between unbounded preceding and current row
        ) as last_look
    from entries
),

placed as (
    select
        *,
        row_number() over (
            partition by id
            order by
                known_version nulls last, last_look nulls first, said_at, seen_at, looked, _window_id, _page
        ) as place
    from bounded
),

complete as (
    select
        * replace (
            {filled}
        )
    from placed
),

compared as (
    select
        *,
        place = 1 or row({columns}) is distinct from lag(row({columns})) over (partition by id order by place) as differs
    from complete
),

grouped as (
    select
        *,
        (count(*) filter (where differs) over (partition by id order by place))::integer as part
    from compared
),

versions as (
    select
        * exclude (last_seen_at),
        max(last_seen_at) over (partition by id, part) as last_seen_at,
        coalesce(max(known_version) over (partition by id), 1) + part - 1 as version,
        began_at as counts_from
    from grouped
    qualify differs
),

moved as (
    select
        *,
        counts_from > max(counts_from) over (
            partition by id
            order by part
            rows between unbounded preceding and 1 preceding
        ) as is_after
    from versions
),

begun as (
    select
        *,
        max(coalesce(known_from, if(coalesce(is_after, true), counts_from, seen_at))) over (
            partition by id
            order by part
        ) as valid_from
    from moved
)

select
    id,
    version,
    valid_from,
    lead(valid_from) over (partition by id order by part) as valid_to,
    lead(valid_from) over (partition by id order by part) is null as is_current,
    seen_at,
    last_seen_at,
    updated_at,
    {columns},
    _window_id,
    _page
from begun
