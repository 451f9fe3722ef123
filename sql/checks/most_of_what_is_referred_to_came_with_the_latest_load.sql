-- severity: warn
-- blocking: no
-- table: shipments
-- asked: everything, because it looks at the latest load by itself
-- description: For each kind that the pages of the latest load refer to, most objects came with them. If not, the service ignores field selection or leaves out included.
-- wrong: Most objects of {count} [kind|kinds] did not come with the latest load, so the service ignores field selection or leaves out included
-- named: {kind} ({missing} of {objects} missing, requested by {parameter})
with latest as (
    select window_id
    from ops.loads
    where load_run_id = (select max_by(load_run_id, loaded_at) from ops.loads)
)

select
    included_kinds.kind,
    included_kinds.parameter,
    sum(included_kinds.objects) as objects,
    sum(included_kinds.missing) as missing
from ops.included_kinds
semi join latest
    on included_kinds.window_id = latest.window_id
group by all
having sum(included_kinds.missing) > 0.5 * sum(included_kinds.objects) and sum(included_kinds.referring_in_vain) >= 5
