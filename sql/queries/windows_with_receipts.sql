-- grain: one row per window in the tables, with everything that the published file records about it
-- source: ops.loads, ops.windows
-- notes: the receipt proves the window; the columns from ops.windows are as of publishing
select
    loads.window_id as id,
    loads.from_at,
    loads.to_at,
    'loaded' as state,
    loads.reason,
    loads.run_id,
    '' as signature,
    windows.count_reported,
    loads.pages,
    loads.records,
    coalesce(windows.bytes, 0) as bytes,
    coalesce(windows.started_at, loads.loaded_at) as started_at,
    coalesce(windows.landed_at, loads.loaded_at) as landed_at,
    loads.loaded_at,
    windows.read_seconds
from ops.loads
left join ops.windows
    on loads.window_id = windows.id
order by loads.loaded_at, loads.window_id
