-- grain: one row per key that the types do not know, or whose values were cast
-- keys: path
-- source: ops.schema_drift
select
    path,
    sum(occurrences) as found
from ops.schema_drift
group by path
order by path
