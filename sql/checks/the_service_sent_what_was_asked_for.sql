-- severity: warn
-- blocking: no
-- table: shipments
-- description: The service accepts each name of field selection and sends the objects that rows refer to. Data that it omits is not updated.
-- wrong: The service omits the data of {count} [name|names] of field selection, which is not updated
-- named: {name} ({data}, {reason})
-- notes: only the latest load; a few references to objects that were not sent are normal
with latest as (
    select window_id
    from ops.loads
    where load_run_id = (select max_by(load_run_id, loaded_at) from ops.loads)
)

select
    omitted.name,
    omitted.reason,
    omitted.data,
    coalesce(sum(omitted.referring), 0)::bigint as referring,
    coalesce(sum(omitted.stayed), 0)::bigint as stayed
from ops.omitted
semi join latest
    on omitted.window_id = latest.window_id
group by all
having omitted.reason = 'refused' or sum(omitted.referring) >= 5 or sum(omitted.stayed) > 0
