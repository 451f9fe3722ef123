-- grain: one row per open misfit at a place for a reason, newest first
-- keys: window_id, page, path
-- source: misfits
with misfits as (
    {misfits}
)

select
    _window_id as window_id,
    _page as page,
    object,
    object_id,
    path,
    text,
    1 as rows
from misfits
where is_open and what = $what and why = $why
order by _extracted_at desc, page_key, position
limit $most
