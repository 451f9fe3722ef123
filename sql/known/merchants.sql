-- grain: one row a merchant that the service has shown, of those asked for
-- keys: id
-- source: merchants
select
    merchants.code as key,
    merchants.id,
    'Merchant' as "type",
    null as status,
    null as belongs_to,
    null as created_at
from merchants
where merchants.code in (select unnest($keys))
order by merchants.id
