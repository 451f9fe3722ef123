-- grain: one row per photo of a gallery
-- keys: gallery_id, id
-- root: galleries by gallery_id
-- newer: _extracted_at
-- source: Gallery.items, merged with included.GalleryItem if present (spec 2.4)
-- notes: photos stay with their gallery when its shipment or package is gone; join those tables for the photos in use
create table gallery_items (
    gallery_id bigint, -- The gallery; joins galleries.id. Source: Gallery.id
    position integer, -- Position of the photo in the gallery, from 1. Source: order of Gallery.items
    id bigint, -- The photo. Source: GalleryItem.id
    "type" varchar, -- Kind of object, as the service names it. Source: GalleryItem.type
    url varchar, -- Address of the photo. Source: GalleryItem.url
    thumbnail_url varchar, -- Address of the thumbnail. Source: GalleryItem.thumbnail_url
    caption varchar, -- Caption. Source: GalleryItem.caption
    taken_at timestamptz, -- When the photo was taken (UTC). Source: GalleryItem.taken_at
    device_info json, -- Device that took the photo, as received. Source: GalleryItem.device_info
    media_info json, -- Data on the media file, as received. Source: GalleryItem.media_info
    created_at timestamptz, -- Time of creation (UTC). Source: GalleryItem.created_at
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
