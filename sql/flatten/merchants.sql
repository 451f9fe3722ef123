-- grain: one row per merchant
-- keys: id
-- source: included.Merchant (spec 2.5)
with stated as (
    select
        _page,
        object as merchant
    from page."Merchant"
)

select
    merchant.id,
    merchant.code,
    merchant."name",
    merchant.status,
    merchant.created_at,
    merchant.updated_at,
    list_transform(merchant.brands, lambda reference: reference.id) as brands_ids,
    merchant.default_brand.id as default_brand_id,
    merchant.custom_fields,
    _page
from stated
