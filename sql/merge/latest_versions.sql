-- grain: one row per observed object with history: its latest version, and the latest time that any version said
-- keys: id
-- source: the table with the history of objects, and observed
-- notes: names in braces are identifiers from the catalogue
create or replace temp table latest as
select
    *,
    max(least(coalesce(updated_at, seen_at), seen_at)) over (partition by id) as said_at
from {history}
where id in (select observed.id from observed)
qualify is_current
