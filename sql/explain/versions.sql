-- grain: one row per page that contains the shipment, with the version on it, oldest first
-- keys: window_id, page
-- source: every Parquet file of shipments, ops.loads and the shipments as published
-- notes: verdict explains the rules of merge/contest.sql in words
with seen as (
    select
        id,
        unique_id,
        status,
        updated_at,
        _window_id as window_id,
        _page as page,
        _extracted_at as extracted_at,
        to_json(shipment) as content
    from read_parquet($files, union_by_name = true) as shipment
    where id = $id
    qualify row_number() over (partition by _window_id, _page) = 1
),

stored as (
    select
        updated_at,
        _window_id as window_id,
        _page as page,
        _extracted_at as extracted_at
    from main.shipments
    where id = $id
),

looked as (
    select
        loads.reason,
        loads.window_id,
        seen.extracted_at
    from seen
    inner join ops.loads on seen.window_id = loads.window_id
    where loads.reason in ('audit', 'backfill')
    order by seen.extracted_at desc, loads.window_id desc
    limit 1
),

judged as (
    select
        seen.*,
        coalesce(stored.window_id = seen.window_id and stored.page = seen.page, false) as is_stored,
        stored.window_id is not null as has_stored,
        stored.updated_at as stored_updated_at,
        stored.extracted_at as stored_extracted_at,
        coalesce(seen.updated_at, seen.extracted_at - interval 10 minute) as version,
        coalesce(stored.updated_at, stored.extracted_at - interval 10 minute) as stored_version,
        loads.window_id is not null as is_merged,
        lag(seen.content) over (order by seen.extracted_at, seen.window_id, seen.page) as before,
        coalesce(seen.extracted_at < looked.extracted_at, false) as is_void,
        concat('the ', looked.reason, ' ', looked.window_id) as look
    from seen
    left join stored on true
    left join looked on true
    left join ops.loads on seen.window_id = loads.window_id
)

select
    unique_id,
    status,
    updated_at,
    window_id,
    page,
    extracted_at,
    is_stored,
    case
        when is_stored and bool_or(is_void and version > stored_version) over ()
            then concat('in the table: the newest since ', look, ' made void what was read before')
        when is_stored
            then 'in the table: no version read so far is newer'
        when not is_merged
            then 'not in the table: its window is not merged'
        when not has_stored
            then 'not in the table, although its window is merged'
        when is_void and version > stored_version
            then concat('void: ', look, ' read it later, and its updated_at had moved back')
        when updated_at is null and version < stored_version and extracted_at > stored_extracted_at
            then 'not in the table, although it was read later: its updated_at could not be read or did not come, and the one in the table is even later'
        when updated_at is null and version < stored_version
            then 'replaced: a later version came; without updated_at, ten minutes before the reading counts'
        when version < stored_version and stored_updated_at is null
            then 'replaced: a version without updated_at was read later'
        when version < stored_version
            then 'replaced: a version with a later updated_at came'
        when version = stored_version and extracted_at <= stored_extracted_at
            then 'replaced: the same updated_at was read again later'
        else 'newer than the table: the published file is from before it was merged'
    end as verdict,
    list_filter(
        json_keys(content),
        lambda key: before is not null and key[1] != '_'
        and json_extract(content, concat('$.', key)) is distinct from json_extract(before, concat('$.', key))
    ) as changed
from judged
order by extracted_at, window_id, page
