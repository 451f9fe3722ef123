-- grain: one row per merchant
-- keys: id
-- root: merchants by id
-- newer: updated_at
-- source: included.Merchant (spec 2.5)
create table merchants (
    id bigint, -- The merchant. Source: Merchant.id
    code varchar, -- Code. Source: Merchant.code
    "name" varchar, -- Name. Source: Merchant.name
    status varchar, -- Status. Source: Merchant.status
    created_at timestamptz, -- Time of creation (UTC). Source: Merchant.created_at
    updated_at timestamptz, -- Time of the last change (UTC). Source: Merchant.updated_at
    brands_ids bigint[], -- The merchant's brands; join brands.id. Source: Merchant.brands[].id
    default_brand_id bigint, -- The merchant's default brand; joins brands.id. Source: Merchant.default_brand.id
    custom_fields json, -- Custom fields by code, as received. Source: Merchant.custom_fields
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
