-- grain: one row per window in a list that is not written yet
-- keys: window_id
-- source: ops.loads
-- notes: the oldest list starts over, because every window in the tables is in it or in a later list
select
    window_id,
    reason,
    from_at,
    to_at,
    records,
    listed_at,
    listed_at = (select min(every_load.listed_at) from ops.loads as every_load) as starts_over
from ops.loads
where $since is null or listed_at > $since
order by listed_at, window_id
