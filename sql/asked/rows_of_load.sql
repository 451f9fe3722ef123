-- grain: one row per row of a table that the load may have changed, and per row without a key
-- source: the table, and load_keys
-- notes: names in braces are identifiers from the catalogue; two scans, because DuckDB skips blocks only for a condition on the key alone
select {columns}
from {table}
where {root_key} in (select load_keys.key from load_keys where load_keys.root = {root})
union all
select {columns}
from {table}
where {root_key} is null
