-- grain: one row per known value, in the usual order
-- keys: column_name, value
-- source: ops.code_values
select
    column_name,
    "value",
    meaning,
    is_open
from ops.code_values
where is_known
order by column_name, sort
