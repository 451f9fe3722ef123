-- grain: one row a retailer that the service has shown, of those asked for
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
