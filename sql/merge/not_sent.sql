-- grain: one row per window and kind of object if the rows of the window refer to such objects, but none of them came
-- keys: window_id, parameter
-- source: the Parquet files of the referring tables and of the referenced kinds
-- notes: names in braces are a list of strings from the catalogue, and a query for references and received objects. One aggregation serves all kinds, because each takes 2 MiB, however few its rows are
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
),

kinds as (
    select
        _window_id,
        kind,
        sum(referring)::bigint as referring,
        not bool_or(came) as is_omitted
    from object
    where referring > 0
    group by
        _window_id,
        kind
)

select
    _window_id as window_id,
    {parameters}[kind] as parameter,
    referring,
    count(*) over (partition by _window_id) > 1 and bool_and(is_omitted) over (partition by _window_id) as nothing_came
from kinds
qualify is_omitted
