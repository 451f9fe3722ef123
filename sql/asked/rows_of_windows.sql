-- grain: one row per row of a table about windows with a key of the windows that no check was asked about, and per row without a key
-- source: the table, and ops.loads
-- notes: names in braces are identifiers from the catalogue
select {columns}
from {table}
where
    {root_key} in (
        select there.{root_key}
        from {table} as there
        semi join ops.loads
            on there._window_id = loads.window_id and loads.checked_at is null
    )
    or {root_key} is null
