-- grain: one row: the number of quarantined values and records of some windows
-- source: ops.quarantine
-- notes: a value that both a sync and the audit of its run read counts once, if its object has an id
select count(
    distinct (
        object,
        coalesce(object_id::varchar, concat_ws(' ', page_key, position)),
        regexp_replace(path, '\[\d+\]', '[]'),
        text,
        why
    )
) as quarantined
from ops.quarantine
where _window_id in (select unnest($windows::varchar[]))
