-- grain: one row: how many values and records of some windows are in quarantine
-- source: ops.quarantine
-- notes: what a sync and the audit of its run both read counts once, if its object has an id to know it by
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
