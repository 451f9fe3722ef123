-- grain: one row a brand
-- keys: id
-- root: brands by id
-- newer: _extracted_at
-- source: included.Brand (spec 2.5)
create table brands (
    id bigint, -- The brand. Source: Brand.id
    code varchar, -- Code. Source: Brand.code
    "name" varchar, -- Name. Source: Brand.name
    is_active boolean, -- Whether it is in use. Source: Brand.is_active
    is_deleted boolean, -- Whether it was deleted. Source: Brand.is_deleted
    sort_order bigint, -- Place in lists. Source: Brand.sort_order
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
