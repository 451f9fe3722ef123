-- grain: one row per stored object that differs from its current version in history
-- keys: id
-- source: the stored table and its history
-- notes: names in braces are identifiers from the catalogue; columns are those whose changes make a version
with stored as (
    select
        {key} as id,
        hash({columns}) as row_hash
    from {stored}
),

latest as (
    select
        {key} as id,
        hash({columns}) as row_hash
    from {history}
    where is_current
)

select
    stored.id,
    latest.id is not null as is_in_history
from stored
left join latest
    on stored.id = latest.id
where stored.row_hash is distinct from latest.row_hash
