-- grain: one row per place, reason and window with misfits, with the number of open misfits
-- keys: what, why, window_id
-- source: misfits
-- notes: new_at is when the newest value was first read: reading the same value again is no news
with misfits as (
    {misfits}
),

dated as (
    select
        *,
        min(_extracted_at) over (partition by what, why, object_id, text) as first_read_at
    from misfits
)

select
    what,
    why,
    _window_id as window_id,
    count(*) filter (where is_open) as open_rows,
    min(_extracted_at) as first_at,
    max(_extracted_at) as last_at,
    max(first_read_at) as new_at,
    max_by(text, _extracted_at) filter (where is_open) as example
from dated
group by all
order by all
