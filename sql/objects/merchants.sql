-- grain: one row per merchant in the tables
-- keys: id
-- source: merchants
select
    'merchants' as kind,
    true as is_unique,
    nfc_normalize(merchants.code) as key,
    merchants.id,
    'Merchant' as "type",
    null as status,
    null as belongs_to,
    null as created_at,
    merchants._extracted_at
from merchants
