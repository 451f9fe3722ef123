-- grain: one row per place, reason and window with misfits, with the number of open misfits
-- keys: what, why, window_id
-- source: ops.quarantine, and the tables for the time when the stored version of each object was read
-- notes: newest is the query for these times. A misfit is open until a later version of its object is stored
with newest as (
    {newest}
)

select
    quarantine.object || ' ' || regexp_replace(quarantine.path, '\[\d+\]', '[]', 'g') as what,
    quarantine.why,
    quarantine._window_id as window_id,
    count(*) filter (where newest.extracted_at is null or newest.extracted_at <= quarantine._extracted_at) as open_rows,
    min(quarantine._extracted_at) as first_at,
    max(quarantine._extracted_at) as last_at,
    max_by(quarantine.text, quarantine._extracted_at) as example
from ops.quarantine
left join newest
    on quarantine.object = newest.object and quarantine.object_id = newest.id
group by all
order by all
