-- grain: one row per quarantined object of a kind: the time when its stored version was read
-- keys: object, id
-- source: the table of the kind
-- notes: names in braces are identifiers from the catalogue
select
    {kind} as object,
    id,
    max(_extracted_at) as extracted_at
from {table}
where id in (select quarantine.object_id from ops.quarantine where quarantine.object = {kind})
group by id
