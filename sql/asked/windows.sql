-- grain: one row per window that the load merged; ended_a_round states whether the window ended an audit round
-- keys: window_id
-- source: load_windows, ops.loads and ops.audits
select
    loads.window_id,
    loads.records,
    coalesce(audits.to_id = 9223372036854775807, false) as ended_a_round
from load_windows
inner join ops.loads
    on load_windows.window_id = loads.window_id
left join ops.audits
    on loads.window_id = audits.window_id
