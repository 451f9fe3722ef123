-- grain: one row per retailer in the tables
-- keys: id
-- source: retailers
-- notes: a code is unique
select
    'retailers' as kind,
    true as is_unique,
    nfc_normalize(retailers.code) as key,
    retailers.id,
    'Retailer' as "type",
    retailers.status,
    null as belongs_to,
    retailers.created_at,
    retailers._extracted_at
from retailers
