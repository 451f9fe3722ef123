-- grain: one row per stored object without history, up to $most
-- keys: id
-- source: the stored table and its history
-- notes: names in braces are identifiers from the catalogue
create or replace temp table unordered as
select stored.{key} as id
from {table} as stored
anti join {history} as history
    on stored.{key} = history.id
order by stored.{key}
limit $most
