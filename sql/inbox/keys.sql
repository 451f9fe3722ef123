-- grain: one row per unknown key, or key whose values were cast, and reason
-- keys: what, why
-- source: ops.schema_drift
select
    path as what,
    coalesce(why, 'no type knows the key') as why,
    sum(occurrences)::bigint as rows,
    min(_extracted_at) as first_at,
    max(_extracted_at) as last_at,
    max_by(example, _extracted_at) as example
from ops.schema_drift
group by 1, 2
order by 1, 2
