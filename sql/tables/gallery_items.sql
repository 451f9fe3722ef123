-- grain: one row a photo of a gallery
-- keys: gallery_id, id
-- root: galleries by gallery_id
-- newer: _extracted_at
-- source: Gallery.items, with included.GalleryItem where it is there (spec 2.4)
-- notes: they stay with their gallery when its shipment or package is gone; join those for what is in use
create table gallery_items (
    gallery_id bigint, -- The gallery; joins galleries.id. Source: Gallery.id
    position integer, -- Place of the photo in the gallery, from 1. Source: order of Gallery.items
    id bigint, -- The photo. Source: GalleryItem.id
    "type" varchar, -- The kind of object, as the service names it. Source: GalleryItem.type
    url varchar, -- Address of the photo. Source: GalleryItem.url
    thumbnail_url varchar, -- Address of its thumbnail. Source: GalleryItem.thumbnail_url
    caption varchar, -- Caption. Source: GalleryItem.caption
    taken_at timestamptz, -- When it was taken (UTC). Source: GalleryItem.taken_at
    device_info json, -- The device that took it, as it came. Source: GalleryItem.device_info
    media_info json, -- The file, as it came. Source: GalleryItem.media_info
    created_at timestamptz, -- When it was created (UTC). Source: GalleryItem.created_at
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
