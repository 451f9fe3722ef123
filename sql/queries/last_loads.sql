-- grain: one row per receipt, the five newest
-- keys: window_id
-- source: ops.loads
select
    window_id,
    reason,
    run_id,
    pages,
    records,
    quarantined,
    rows_flattened,
    loaded_at
from ops.loads
order by loaded_at desc
limit 5
