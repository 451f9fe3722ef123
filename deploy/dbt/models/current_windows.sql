-- grain: one row per window that the tables are made of, as the newest list that names it says
{{ config(materialized='table') }}
with named as (
    select
        listed_at,
        unnest(windows) as listed
    from ({{ lists() }})
)

select
    listed.window_id as window_id,
    listed_at,
    listed.reason as reason,
    listed.files as files,
    listed.omitted as omitted,
    listed.omitted_sets as omitted_sets
from named
qualify row_number() over (partition by listed.window_id order by listed_at desc) = 1
