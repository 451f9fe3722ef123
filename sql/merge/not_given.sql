-- grain: one row a window that was not given all that it was asked for: the names of what, and whether nothing came
-- keys: window_id
-- source: ops.included_kinds of the windows that are merged, and the same of those that are about to be
with counted as (
    select * from ops.included_kinds where window_id not in (select window_id from included_now)
    union all
    select * from included_now
)

select
    window_id,
    list(parameter order by parameter) filter (where missing = objects) as absent,
    count(*) > 1 and bool_and(missing = objects) as nothing_came
from counted
group by window_id
having bool_or(missing = objects)
