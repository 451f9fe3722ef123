-- grain: one row per observed object that follows what is stored: its latest version in the history, and the latest updated_at of any version
-- keys: id
-- source: the table with the history of objects, and observed
-- notes: names in braces are identifiers from the catalogue
create or replace temp table latest as
with versions as (
    select *
    from {history}
    where id in (select contest.key from contest where contest.root = {name} and contest.verdict = 'follows')
),

known as (
    select
        id,
        max(least(coalesce(updated_at, seen_at), seen_at)) as said_at
    from versions
    group by id
)

select
    versions.*,
    known.said_at
from versions
inner join known
    on versions.id = known.id
where versions.is_current
