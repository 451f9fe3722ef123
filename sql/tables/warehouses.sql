-- grain: one row per warehouse
-- keys: id
-- root: warehouses by id
-- newer: _extracted_at
-- source: included.Warehouse (spec 2.5)
create table warehouses (
    id bigint, -- The warehouse (a building). Source: Warehouse.id
    "name" varchar, -- Name. Source: Warehouse.name
    abbreviation varchar, -- Short name. Source: Warehouse.abbreviation
    is_active boolean, -- Whether the warehouse is in use. Source: Warehouse.is_active
    timezone varchar, -- Time zone of the warehouse's local days, such as America/New_York; joins ops.timezones.timezone. Source: WMS_WAREHOUSE_TIMEZONES
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
