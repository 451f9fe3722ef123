-- grain: one row per observed object with history: its latest version, the latest updated_at of any version, and the time when it was last seen
-- keys: id
-- source: the table with the history of objects, and observed
-- notes: names in braces are identifiers from the catalogue
create or replace temp table latest as
with versions as (
    select *
    from {history}
    where id in (select observed.id from observed)
),

known as (
    select
        id,
        max(least(coalesce(updated_at, seen_at), seen_at)) as said_at,
        max(last_seen_at) as known_seen_at
    from versions
    group by id
)

select
    versions.*,
    known.said_at,
    known.known_seen_at
from versions
inner join known
    on versions.id = known.id
where versions.is_current
