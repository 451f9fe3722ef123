-- grain: one row a page and a key that the types in sql/types do not know, or whose values were taken in another form than they came in
-- keys: page_key, path
-- root: schema_drift by page_key
-- newer: _extracted_at
-- source: wms-sync, while it read the page
-- notes: the values stay in raw as they came; a rebuild brings those of an unknown key in once a type knows it
create table ops.schema_drift (
    page_key varchar, -- Window and page, as in raw: the rows of a page are replaced together. Source: wms-sync
    path varchar, -- Kind of object and the unknown key, such as Order.gift_wrap; included.Zone is an unknown kind. Source: wms-sync
    example varchar, -- One of its values as JSON, cut at 2,000 characters. Source: the page
    occurrences bigint, -- How often the key stands in the page, or how many of its values were taken so. Source: wms-sync
    why varchar, -- What was done: no type knows the key, or how its values were cast; null in rows from before this column. Source: wms-sync
    _window_id varchar, -- The window that the key was read in. Source: wms-sync
    _page integer, -- The page of the window that the key was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
