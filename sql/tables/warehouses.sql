-- grain: one row a warehouse
-- keys: id
-- root: warehouses by id
-- newer: _extracted_at
-- source: included.Warehouse (spec 2.5)
create table warehouses (
    id bigint, -- The warehouse, a building. Source: Warehouse.id
    "name" varchar, -- Name. Source: Warehouse.name
    abbreviation varchar, -- Short name. Source: Warehouse.abbreviation
    is_active boolean, -- Whether it is in use. Source: Warehouse.is_active
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
