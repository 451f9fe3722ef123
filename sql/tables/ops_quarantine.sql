-- grain: one row a value or a record that did not fit its type
-- keys: page_key, position
-- root: quarantine by page_key
-- newer: _extracted_at
-- source: wms-sync, while it read the page
-- notes: the value is null in its table, or the record is not there; raw has it as it came
create table ops.quarantine (
    page_key varchar, -- Window and page, as in raw: the rows of a page are replaced together. Source: wms-sync
    position integer, -- Number of the row in its page, from 1. Source: wms-sync
    object varchar, -- Kind of the object that holds the value, as the service names it; Page for a page that could not be read. Source: wms-sync
    object_id bigint, -- Id of that object, where it has one. Source: id
    path varchar, -- Where in the page the value stands, as a JSON path. Source: wms-sync
    text varchar, -- The value as JSON, cut at 2,000 characters. Source: the page
    why varchar, -- Why it was put aside. Source: wms-sync
    _window_id varchar, -- The window that the value was read in. Source: wms-sync
    _page integer, -- The page of the window that the value was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
