-- severity: warn
-- blocking: no
-- table: ops_quarantine
-- description: No value on the pages of the latest load was left out because it does not fit its type, and no record because it does not describe its shipment.
-- wrong: {count} [value or record|values or records] of the latest load [was|were] left out
-- named: {object} {path}
with latest as (
    select window_id
    from ops.loads
    where load_run_id = (select max_by(load_run_id, loaded_at) from ops.loads)
)

select
    quarantine.object,
    quarantine.object_id,
    quarantine.path,
    quarantine.why,
    quarantine._window_id,
    quarantine._page
from ops.quarantine
semi join latest
    on quarantine._window_id = latest.window_id
-- a value that both a sync and the audit of its run read counts once, if its object has an id
qualify row_number() over (
    partition by
        quarantine.object,
        coalesce(quarantine.object_id::varchar, concat_ws(' ', quarantine.page_key, quarantine.position)),
        regexp_replace(quarantine.path, '\[\d+\]', '[]'),
        quarantine.text,
        quarantine.why
    order by quarantine._extracted_at desc
) = 1
