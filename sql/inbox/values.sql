-- grain: one row per place, reason and window with misfits, with the number of open misfits
-- keys: what, why, window_id
-- source: ops.quarantine, and the tables for the time when the stored version of each object was read
-- notes: newest is the query for these times. A misfit is open until a later version of its object is stored. new_at is
--     when the newest value was first read: reading the same value again is no news
with newest as (
    {newest}
),

misfits as (
    select
        *,
        object || ' ' || regexp_replace(path, '\[\d+\]', '[]', 'g') as what,
        min(_extracted_at) over (partition by object, object_id, regexp_replace(path, '\[\d+\]', '[]', 'g'), why, text) as first_read_at
    from ops.quarantine
)

select
    misfits.what,
    misfits.why,
    misfits._window_id as window_id,
    count(*) filter (where newest.extracted_at is null or newest.extracted_at <= misfits._extracted_at) as open_rows,
    min(misfits._extracted_at) as first_at,
    max(misfits._extracted_at) as last_at,
    max(misfits.first_read_at) as new_at,
    max_by(misfits.text, misfits._extracted_at) filter (
        where newest.extracted_at is null or newest.extracted_at <= misfits._extracted_at
    ) as example
from misfits
left join newest
    on misfits.object = newest.object and misfits.object_id = newest.id
group by all
order by all
