-- grain: one row per window: how many of the objects of a kind came whole, where each row is the object that it refers to
-- source: the table's Parquet files
-- notes: this counts what included_kind.sql counts, without joining the table with itself; names in braces are
--     identifiers and texts from the catalogue, a parameter, or the query for rows in files
with referring as (
    select
        _window_id,
        {reference} as id,
        count(*) as referring,
        bool_or({proof} is not null) as came
    from (
        {referring}
    )
    where {reference} is not null and _window_id in (select unnest(${windows}))
    group by all
)

select
    _window_id,
    {kind} as kind,
    {parameter} as parameter,
    sum(referring),
    coalesce(sum(referring) filter (where not came), 0),
    count(*),
    count(*) filter (where not came)
from referring
group by _window_id
