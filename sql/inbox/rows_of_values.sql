-- grain: one row per misfit at a place for a reason, newest first
-- keys: window_id, page, path
-- source: ops.quarantine
select
    _window_id as window_id,
    _page as page,
    object,
    object_id,
    path,
    text,
    1 as rows
from ops.quarantine
where object || ' ' || regexp_replace(path, '\[\d+\]', '[]', 'g') = $what and why = $why
order by _extracted_at desc, page_key, position
limit $most
