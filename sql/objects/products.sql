-- grain: one row per product or packaging item in the tables
-- keys: id
-- source: products, merchants
-- notes: two merchants may each have a product with the same sku
select
    'products' as kind,
    false as is_unique,
    nfc_normalize(products.sku) as key,
    products.id,
    products."type",
    null as status,
    merchants.code as belongs_to,
    products.created_at,
    products._extracted_at
from products
left join merchants
    on products.merchant_id = merchants.id
