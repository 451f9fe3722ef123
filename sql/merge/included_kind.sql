-- grain: one row per window: how many of the objects of a kind that its rows refer to came with it
-- source: the Parquet files of the referring table and of the referenced kind
-- notes: names in braces are identifiers and texts from the catalogue, parameters, or queries for rows in files
with referring as (
    select
        _window_id,
        {reference} as id,
        count(*) as referring
    from (
        {referring}
    )
    where {reference} is not null and _window_id in (select unnest(${windows}))
    group by all
),

came as ({came})

select
    referring._window_id,
    {kind} as kind,
    {parameter} as parameter,
    sum(referring.referring),
    coalesce(sum(referring.referring) filter (where came.id is null), 0),
    count(*),
    count(*) filter (where came.id is null)
from referring
left join came
    on referring._window_id = came._window_id and referring.id = came.id
group by referring._window_id
