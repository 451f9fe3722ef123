-- grain: one row a window that was not given all that it was asked for: the names of what, and whether nothing came
-- keys: window_id
-- source: ops.included_kinds
select
    window_id,
    list(parameter order by parameter) filter (where missing = objects) as absent,
    count(*) > 1 and bool_and(missing = objects) as nothing_came
from ops.included_kinds
group by window_id
having bool_or(missing = objects)
