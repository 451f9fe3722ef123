-- grain: one row per merchant
-- keys: id
-- needs: Merchant
-- source: included.Merchant (spec 2.5)
select
    id,
    code,
    "name",
    status,
    created_at,
    updated_at,
    list_transform(brands, lambda reference: reference.id) as brands_ids,
    default_brand.id as default_brand_id,
    custom_fields,
    _page
from page."Merchant"
