-- grain: one row per brand
-- keys: id
-- root: brands by id
-- newer: _extracted_at
-- source: included.Brand (spec 2.5)
create table brands (
    id bigint, -- The brand. Source: Brand.id
    code varchar, -- Code. Source: Brand.code
    "name" varchar, -- Name. Source: Brand.name
    is_active boolean, -- Whether the brand is in use. Source: Brand.is_active
    is_deleted boolean, -- Whether the brand was deleted. Source: Brand.is_deleted
    sort_order bigint, -- Position in lists. Source: Brand.sort_order
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
