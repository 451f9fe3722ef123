-- grain: one row per object of the batch: its best version in the batch, and what becomes of the stored rows
-- keys: root, key
-- source: the Parquet files of every root in the batch, the stored tables, ops.loads, and the windows that omit data
-- notes: the names in braces are queries for the occurrences in the files (occurrences.sql) and for the stored versions
--     of these objects (stored.sql); window and page identify a version. Versions read before the latest audit or
--     backfill of the object are void; among the rest the greatest (version, _extracted_at) wins. verdict is
--     'follows' if every occurrence was read after all that is stored and ranks after it, and all omit the same data;
--     'changes nothing' if none of them can take effect. Otherwise it says why the object starts over from all merged windows
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

compared as (
    select
        incoming.*,
        max(incoming._extracted_at) filter (where incoming.looked) over (partition by incoming.root, incoming.key) as last_looked,
        stored.key is null as is_new,
        stored.has_history or stored.omitted is distinct from omitting.omitted as counts_anyway,
        incoming._extracted_at < stored.last_seen_at or (incoming.looked and incoming._extracted_at = stored.last_seen_at) as is_late,
        (incoming.version, incoming._extracted_at, incoming.looked, incoming._window_id, incoming._page)
        > (stored.version, stored._extracted_at, stored.looked, stored._window_id, stored._page) as is_newer,
        incoming.looked and stored._extracted_at < incoming._extracted_at as voids,
        coalesce(omitting.omitted, '') as omitted
    from incoming
    left join stored
        on incoming.root = stored.root and incoming.key = stored.key
    left join omitting
        on incoming.root = omitting.root and incoming._window_id = omitting.window_id
)

select
    root,
    key,
    _window_id,
    _page,
    case
        when min(omitted) over of_object <> max(omitted) over of_object then 'omit different data'
        when is_new or bool_and(is_newer and not is_late) over of_object then 'follows'
        when not bool_or(is_newer or voids or counts_anyway) over of_object then 'changes nothing'
        when bool_or(voids and not is_newer) over of_object then 'moved back'
        when bool_or(is_late) over of_object then 'read late'
        else 'older'
    end as verdict,
    verdict not in ('follows', 'changes nothing') as starts_over
from compared
window of_object as (partition by root, key)
qualify row_number() over (
    partition by root, key
    order by
        last_looked is null or _extracted_at >= last_looked desc,
        version desc, _extracted_at desc, looked desc, _window_id desc, _page desc
) = 1
