-- grain: one row per photo gallery
-- keys: id
-- root: galleries by id
-- newer: updated_at
-- source: included.Gallery, or the whole gallery inside a shipment or a package (spec 2.4)
-- notes: a gallery stays when its shipment or package is gone; join shipments.gallery_id and packages.gallery_id for the galleries in use
create table galleries (
    id bigint, -- The gallery. Source: Gallery.id
    "type" varchar, -- Kind of object, as the service names it. Source: Gallery.type
    photo_count bigint, -- Number of photos. Source: Gallery.photo_count
    updated_at timestamptz, -- Time of the last change (UTC). Source: Gallery.updated_at
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
