-- grain: one row per window with values that were cast to their type
-- keys: _window_id
-- source: the Parquet files of ops.schema_drift
-- notes: $unknown is the reason for unknown keys; older files have no reasons
with drift as (
    from read_parquet($files, union_by_name = true)
    union all by name
    select null::varchar as why
    where false
)

select distinct _window_id
from drift
where why is distinct from $unknown
