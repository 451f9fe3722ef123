-- grain: one row per window that lacks a whole kind it requested: the parameters of those kinds, and whether no kind came at all
-- keys: window_id
-- source: ops.included_kinds
select
    window_id,
    list(parameter order by parameter) filter (where missing = objects) as absent,
    count(*) > 1 and bool_and(missing = objects) as nothing_came
from ops.included_kinds
group by window_id
having bool_or(missing = objects)
