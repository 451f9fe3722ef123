-- grain: one row per merchant in the tables whose code is in $keys
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
