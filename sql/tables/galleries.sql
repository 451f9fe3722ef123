-- grain: one row a photo gallery
-- keys: id
-- root: galleries by id
-- newer: updated_at
-- source: included.Gallery, or the whole gallery inside a shipment or a package (spec 2.4)
-- notes: one whose shipment or package is gone stays; join shipments.gallery_id and packages.gallery_id for those in use
create table galleries (
    id bigint, -- The gallery. Source: Gallery.id
    "type" varchar, -- The kind of object, as the service names it. Source: Gallery.type
    photo_count bigint, -- Number of photos. Source: Gallery.photo_count
    updated_at timestamptz, -- When it was last changed (UTC). Source: Gallery.updated_at
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
