-- severity: warn
-- blocking: no
-- table: ops_schema_drift
-- description: The service sent no key that the types do not know with the pages loaded last.
with latest as (
    select window_id
    from ops.loads
    where load_run_id = (select max_by(load_run_id, loaded_at) from ops.loads)
)

select
    schema_drift.path,
    min(schema_drift.example) as example,
    sum(schema_drift.occurrences) as occurrences
from ops.schema_drift
semi join latest
    on schema_drift._window_id = latest.window_id
group by all
