-- grain: one row per open misfit at a place for a reason, newest first
-- keys: window_id, page, path
-- source: ops.quarantine, and the tables for the time when the stored version of each object was read
with newest as (
    {newest}
)

select
    quarantine._window_id as window_id,
    quarantine._page as page,
    quarantine.object,
    quarantine.object_id,
    quarantine.path,
    quarantine.text,
    1 as rows
from ops.quarantine
left join newest
    on quarantine.object = newest.object and quarantine.object_id = newest.id
where
    quarantine.object || ' ' || regexp_replace(quarantine.path, '\[\d+\]', '[]', 'g') = $what
    and quarantine.why = $why
    and (newest.extracted_at is null or newest.extracted_at <= quarantine._extracted_at)
order by quarantine._extracted_at desc, quarantine.page_key, quarantine.position
limit $most
