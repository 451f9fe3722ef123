-- grain: one row per window in the tables
-- keys: window_id
-- source: ops.loads
select
    window_id,
    rows_flattened
from ops.loads
order by window_id
