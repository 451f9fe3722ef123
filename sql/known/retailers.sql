-- grain: one row per retailer in the tables whose code is in $keys
-- keys: id
-- source: retailers
select
    retailers.code as key,
    retailers.id,
    'Retailer' as "type",
    retailers.status,
    null as belongs_to,
    retailers.created_at
from retailers
where retailers.code in (select unnest($keys))
order by retailers.id
