-- grain: one row per object in the tables whose key is in $keys
-- keys: key, id
-- source: one of the queries in sql/shown
select
    shown.key,
    shown.id,
    shown."type",
    shown.status,
    shown.belongs_to,
    shown.created_at
from ({shown}) as shown
where shown.key in (select unnest($keys::varchar[]))
order by shown.id
