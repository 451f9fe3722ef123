-- grain: one row a version of a shipment on a page that was flattened, as it was read, the oldest first
-- keys: window_id, page
-- source: every Parquet file of shipments, ops.loads and the shipments as published
-- notes: the reasons in verdict are the rules of merge/winners.sql, in words
with seen as (
    select
        id,
        unique_id,
        status,
        updated_at,
        _window_id as window_id,
        _page as page,
        _extracted_at as extracted_at
    from read_parquet($files, union_by_name = true)
    where id = $id
    qualify row_number() over (partition by _window_id, _page) = 1
),

stored as (
    select
        updated_at,
        _window_id as window_id,
        _page as page,
        _extracted_at as extracted_at
    from shipments
    where id = $id
)

select
    seen.unique_id,
    seen.status,
    seen.updated_at,
    seen.window_id,
    seen.page,
    seen.extracted_at,
    coalesce(stored.window_id = seen.window_id and stored.page = seen.page, false) as is_stored,
    case
        when stored.window_id = seen.window_id and stored.page = seen.page
            then 'in the table: no version read so far is newer'
        when loads.window_id is null
            then 'not in the table: its window is not merged'
        when stored.window_id is null
            then 'not in the table, although its window is merged'
        when seen.updated_at is null and stored.updated_at is not null
            then 'replaced: without updated_at it counts as older'
        when seen.updated_at < stored.updated_at
            then 'replaced: a version with a later updated_at came'
        when seen.updated_at is not distinct from stored.updated_at and seen.extracted_at <= stored.extracted_at
            then 'replaced: the same updated_at was read again later'
        else 'newer than the table: the published file is from before it was merged'
    end as verdict
from seen
left join stored on true
left join ops.loads on seen.window_id = loads.window_id
order by seen.extracted_at, seen.window_id, seen.page
