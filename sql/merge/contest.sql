-- grain: one row per object of the batch: its best version in the batch, and what becomes of the stored rows
-- keys: root, key
-- source: the Parquet files of every root in the batch, the stored tables, ops.loads, and the windows that omit data
-- notes: the names in braces are queries for the occurrences in the files (occurrences.sql) and for the stored versions
--     of these objects (stored.sql); window and page identify a version. Versions read before the latest audit or
--     backfill of the object are void; among the rest the greatest (version, _extracted_at) wins. verdict is
--     'follows' if every occurrence was read after all that is stored and ranks after it, and all omit the same data;
--     'changes nothing' if none of them can take effect. Otherwise it says why the object starts over from all merged
--     windows. Of objects without history, nothing says when they were last seen: an audit or backfill that omits data
--     and was read before the last load counts as late, because the stored row may lack a version to fill it from
create or replace temp table contest as
with occurrences as (
    {occurrences}
),

incoming as (
    select
        occurrences.*,
        loads.reason in ('audit', 'backfill') as looked
    from occurrences
    inner join ops.loads
        on occurrences._window_id = loads.window_id
),

omitting as (
    select
        unnest($omitting_roots::varchar[]) as root,
        unnest($omitting_windows::varchar[]) as window_id,
        unnest($omitted::varchar[]) as omitted
),

stored as (
    select
        existing.*,
        coalesce(loads.reason in ('audit', 'backfill'), false) as looked,
        omitting.omitted
    from (
        {stored}
    ) as existing
    left join ops.loads
        on existing._window_id = loads.window_id
    left join omitting
        on existing.root = omitting.root and existing._window_id = omitting.window_id
),

previous as (
    select max(loaded_at) as loaded_at
    from ops.loads
    where not list_contains($batch::varchar[], window_id)
),

compared as (
    select
        incoming.*,
        stored.key is null as is_new,
        stored.has_history or stored.omitted is distinct from omitting.omitted as counts_anyway,
        incoming._extracted_at < stored.last_seen_at
        or (incoming.looked and incoming._extracted_at = stored.last_seen_at)
        or (
            not stored.has_history
            and incoming.looked
            and omitting.omitted is not null
            and incoming._extracted_at <= coalesce(previous.loaded_at, '-infinity')
        ) as is_late,
        (incoming.version, incoming._extracted_at, incoming.looked, incoming._window_id, incoming._page)
        > (stored.version, stored._extracted_at, stored.looked, stored._window_id, stored._page) as is_newer,
        incoming.looked and stored._extracted_at < incoming._extracted_at as voids,
        coalesce(omitting.omitted, '') as omitted
    from incoming
    left join stored
        on incoming.root = stored.root and incoming.key = stored.key
    left join omitting
        on incoming.root = omitting.root and incoming._window_id = omitting.window_id
    cross join previous
),

judged as (
    select
        root,
        key,
        coalesce(max(_extracted_at) filter (where looked), min(_extracted_at)) as counts_from,
        case
            when min(omitted) <> max(omitted) then 'omit different data'
            when bool_and(is_new or (is_newer and not is_late)) then 'follows'
            when not bool_or(is_newer or voids or counts_anyway) then 'changes nothing'
            when bool_or(voids and not is_newer) then 'moved back'
            when bool_or(is_late) then 'read late'
            else 'older'
        end as verdict
    from compared
    group by
        root,
        key
),

chosen as (
    select
        judged.root,
        judged.key,
        judged.verdict,
        arg_max(
            struct_pack(id := compared._window_id, page := compared._page),
            row(compared.version, compared._extracted_at, compared.looked, compared._window_id, compared._page)
        ) as best
    from judged
    inner join compared
        on judged.root = compared.root and judged.key = compared.key and compared._extracted_at >= judged.counts_from
    group by
        judged.root,
        judged.key,
        judged.verdict
)

select
    root,
    key,
    best.id as _window_id,
    best.page as _page,
    verdict,
    verdict not in ('follows', 'changes nothing') as starts_over
from chosen
