-- grain: one row per version of each object that was observed once: its latest version and, if the occurrence differs, the next
-- keys: id, version
-- source: latest and observed
-- notes: names in braces are identifiers from the catalogue. For a single occurrence with every column, which most
--     objects of a nightly sync have, this gives the result of versions.sql without sorting. The latest version ends when the
--     next begins, or was seen once more
insert into {history} by name
with once as (
    select *
    from observed
    where id in (select several.id from observed as several group by several.id having count(*) = 1)
),

compared as (
    select
        once.*,
        latest.version as known_version,
        latest.id is null or row({once_columns}) is distinct from row({latest_columns}) as differs,
        case
            when latest.id is null then once.began_at
            when once.began_at > latest.said_at
                then greatest(latest.valid_from, once.began_at)
            else greatest(latest.valid_from, once.seen_at)
        end as begins_at
    from once
    left join latest
        on once.id = latest.id
)

select
    latest.* exclude (said_at) replace (
        if(compared.differs, compared.begins_at, null) as valid_to,
        not compared.differs as is_current,
        if(compared.differs, latest.last_seen_at, greatest(latest.last_seen_at, compared.seen_at)) as last_seen_at
    )
from latest
inner join compared
    on latest.id = compared.id
union all by name
select
    id,
    coalesce(known_version, 0) + 1 as version,
    begins_at as valid_from,
    true as is_current,
    seen_at,
    seen_at as last_seen_at,
    updated_at,
    {columns},
    _window_id,
    _page
from compared
where differs
