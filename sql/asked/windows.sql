-- grain: one row per window that no check was asked about; with whether it ended an audit round
-- keys: window_id
-- source: ops.loads and ops.audits
select
    loads.window_id,
    loads.records,
    coalesce(audits.to_id = 9223372036854775807, false) as ended_a_round
from ops.loads
left join ops.audits
    on loads.window_id = audits.window_id
where loads.checked_at is null
