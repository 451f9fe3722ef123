-- grain: one row per row of a table about windows with a key of the windows that the load merged, and per row without a key
-- source: the table, and load_windows
-- notes: names in braces are identifiers from the catalogue
select {columns}
from {table}
where
    {root_key} in (
        select there.{root_key}
        from {table} as there
        semi join load_windows
            on there._window_id = load_windows.window_id
    )
    or {root_key} is null
