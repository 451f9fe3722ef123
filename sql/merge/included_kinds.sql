-- grain: one row per window and kind: how many of the objects of a kind that its rows refer to came with it
-- keys: _window_id, kind
-- source: the Parquet files of the referring tables and of the referenced kinds
-- notes: names in braces are lists of texts from the catalogue, and a query for who refers to what and what came. One table of groups for all kinds: each takes 2 MiB, however few its rows are
with object as (
    select
        _window_id,
        kind,
        id,
        count(*) filter (where refers) as referring,
        bool_or(is_there) as came
    from (
        {objects}
    )
    group by
        _window_id,
        kind,
        id
)

select
    _window_id,
    {kinds}[kind] as kind,
    {parameters}[kind] as parameter,
    sum(referring),
    coalesce(sum(referring) filter (where not came), 0),
    count(*),
    count(*) filter (where not came)
from object
where referring > 0
group by
    _window_id,
    kind
