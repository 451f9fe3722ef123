-- grain: one row per misfit, with its place and whether it is open
-- source: ops.quarantine, and the tables for the time when the stored version of each object was read
-- notes: newest is the query for these times. A misfit is open until a later version of its object is stored
select
    quarantine.*,
    quarantine.object || ' ' || regexp_replace(quarantine.path, '\[\d+\]', '[]', 'g') as what,
    newest.extracted_at is null or newest.extracted_at <= quarantine._extracted_at as is_open
from ops.quarantine
left join (
    {newest}
) as newest
    on quarantine.object = newest.object and quarantine.object_id = newest.id
