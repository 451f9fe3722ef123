-- grain: one row per photo of a gallery
-- keys: gallery_id, id
-- needs: gallery
-- completed: GalleryItem
-- source: Gallery.items, merged with included.GalleryItem if present (spec 2.4)
with stated as (
    select
        _page,
        id as gallery_id,
        generate_subscripts(items, 1)::integer as position,
        unnest(items, max_depth := 2)
    from gallery
)

select
    gallery_id,
    position,
    id,
    "type",
    url,
    thumbnail_url,
    caption,
    taken_at,
    device_info,
    media_info,
    created_at,
    _page
from stated
