-- grain: one row per product or packaging item in the tables whose sku is in $keys
-- keys: id
-- source: products, merchants
-- notes: two merchants may each have a product with the same sku
select
    products.sku as key,
    products.id,
    products."type",
    null as status,
    merchants.code as belongs_to,
    products.created_at
from products
left join merchants
    on products.merchant_id = merchants.id
where products.sku in (select unnest($keys))
order by products.id
