-- grain: one row per object in the tables whose key is in $keys
-- keys: key, id
-- source: one of the queries in sql/objects
select
    objects.key,
    objects.id,
    objects."type",
    objects.status,
    objects.belongs_to,
    objects.created_at
from ({objects}) as objects
where objects.key in (select unnest($keys::varchar[]))
order by objects.id
