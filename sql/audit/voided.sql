-- grain: one row per object that the tables have with a later updated_at than the slice, although the slice read it later
-- source: the slice's Parquet files of a table, and the table before they are merged
-- notes: names in braces are identifiers from the catalogue; the object's updated_at moved back, so the merge voids the stored version
with incoming as (
    select
        {key} as id,
        max({newer}) as updated_at,
        max(_extracted_at) as extracted_at
    from {incoming}
    group by {key}
)

select incoming.id
from incoming
inner join {table} as stored
    on incoming.id = stored.{key}
where stored.{newer} > incoming.updated_at and stored._extracted_at < incoming.extracted_at
order by incoming.id
