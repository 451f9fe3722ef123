-- grain: one row per page and key that is not in the types of sql/types, or whose values were cast
-- keys: page_key, path
-- root: schema_drift by page_key
-- newer: _extracted_at
-- source: wms-sync, while reading the page
-- notes: the raw page keeps the values as received; once a type has the key, a rebuild loads its values
create table ops.schema_drift (
    page_key varchar, -- Window and page, as under raw/shipments; all rows of a page are replaced together. Source: wms-sync
    path varchar, -- Kind of object and key, such as Order.gift_wrap; included.Zone is an unknown kind. Source: wms-sync
    example varchar, -- A value of the key as JSON, truncated to 2,000 characters. Source: the page
    occurrences bigint, -- Number of times the key occurs on the page, or number of its values that were cast. Source: wms-sync
    why varchar, -- The reason: no type has the key, or its values were cast; null in rows older than this column. Source: wms-sync
    _window_id varchar, -- Window in which the key was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
