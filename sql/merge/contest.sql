-- grain: one row per object of the batch: its best version in the batch, and the outcome against the stored version
-- keys: root, key
-- source: the Parquet files of every root in the batch, the stored tables, and ops.loads for the reason of each window
-- notes: the names in braces are queries for the occurrences in the files (occurrences.sql) and for the stored versions
--     of these objects (stored.sql); window and page identify a version.
--     A version without updated_at is ranked at ten minutes before it was read.
--     Versions read before the latest audit or backfill of the object are void (sql/explain/versions.sql explains
--     this in words). outcome is doubtful if it depends on earlier versions: the order of reading differs from the
--     order of updated_at, and either an earlier audit or backfill may have voided the incoming version, or the
--     incoming version voids the stored one, so that a version that lost to the stored version may now win
create or replace temp table contest as
with occurrences as (
    {occurrences}
),

bounded as (
    select
        occurrences.*,
        loads.reason in ('audit', 'backfill') as looked,
        max(_extracted_at) filter (where looked) over (partition by root, key) as last_looked,
        min(_extracted_at) over (partition by root, key) as first_read
    from occurrences
    inner join ops.loads on occurrences._window_id = loads.window_id
),

incoming as (
    select *
    from bounded
    where last_looked is null or _extracted_at >= last_looked
    qualify row_number() over (
        partition by root, key
        order by version desc, _extracted_at desc, looked desc, _window_id desc, _page desc
    ) = 1
),

stored as (
    select
        existing.*,
        coalesce(loads.reason in ('audit', 'backfill'), false) as looked
    from (
        {stored}
    ) as existing
    left join ops.loads
        on existing._window_id = loads.window_id
),

compared as (
    select
        incoming.*,
        stored.key is not null as is_stored,
        coalesce(stored._extracted_at < incoming.last_looked, false) as voids,
        incoming._extracted_at < stored._extracted_at as is_late,
        (incoming.version, incoming._extracted_at, incoming.looked, incoming._window_id, incoming._page)
        >= (stored.version, stored._extracted_at, stored.looked, stored._window_id, stored._page) as is_newer
    from incoming
    left join stored
        on incoming.root = stored.root and incoming.key = stored.key
)

select
    root,
    key,
    _window_id,
    _page,
    first_read,
    voids and not is_newer as went_back,
    case
        when not is_stored then 'wins'
        when is_newer and is_late then 'doubtful'
        when is_newer then 'wins'
        when voids then 'doubtful'
        else 'loses'
    end as outcome
from compared
