-- grain: one row per object that starts over and whose winning version is from a window that omits data
-- keys: key
-- source: placed, and the windows that omit data
-- notes: labels are the kinds of omissions of the object's windows (empty: none), the newest first, and places the last
--     version with each label
create or replace temp table chains as
with omitting as (
    select
        unnest($windows::varchar[]) as window_id,
        unnest($labels::varchar[]) as label
),

last_versions as (
    select
        placed.key,
        coalesce(omitting.label, '') as label,
        max(placed.place) as place
    from placed
    left join omitting
        on placed._window_id = omitting.window_id
    where placed.has_file
    group by all
)

select
    key,
    list(label order by place desc) as labels,
    list(place order by place desc) as places
from last_versions
group by key
having arg_max(label, place) <> ''
