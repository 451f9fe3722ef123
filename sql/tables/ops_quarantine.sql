-- grain: one row per value or record that did not fit its type, and per stub of a shipment
-- keys: page_key, position
-- root: quarantine by page_key
-- newer: _extracted_at
-- source: wms-sync, while reading the page
-- notes: the value is null in its table, or the record is not in the tables; the raw page keeps both as received
create table ops.quarantine (
    page_key varchar, -- Window and page, as under raw/shipments; all rows of a page are replaced together. Source: wms-sync
    position integer, -- Number of the row within its page, from 1. Source: wms-sync
    object varchar, -- Kind of the object with the value, as the service names it; Page if the whole page could not be read. Source: wms-sync
    object_id bigint, -- Id of that object, if it has one. Source: id
    path varchar, -- JSON path of the value in the page. Source: wms-sync
    text varchar, -- The value as JSON, truncated to 2,000 characters. Source: the page
    why varchar, -- Why the value or record was quarantined. Source: wms-sync
    _window_id varchar, -- Window in which the value was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
