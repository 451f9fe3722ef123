-- severity: warn
-- blocking: no
-- table: ops_schema_drift
-- description: The pages of the latest load contain no unknown key, and no value that had to be cast.
-- wrong: {count} [key|keys] of the latest load [is|are] unknown, or had values that were cast
-- named: {path}
with latest as (
    select window_id
    from ops.loads
    where load_run_id = (select max_by(load_run_id, loaded_at) from ops.loads)
)

select
    schema_drift.path,
    schema_drift.why,
    min(schema_drift.example) as example,
    sum(schema_drift.occurrences) as occurrences
from ops.schema_drift
semi join latest
    on schema_drift._window_id = latest.window_id
group by all
