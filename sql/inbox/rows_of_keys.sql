-- grain: one row per page with a key, newest first
-- keys: window_id, page
-- source: ops.schema_drift
select
    _window_id as window_id,
    _page as page,
    null as object,
    null as object_id,
    path,
    example as text,
    occurrences as rows
from ops.schema_drift
where path = $what and coalesce(why, 'no type knows the key') = $why
order by _extracted_at desc, page_key
limit $most
