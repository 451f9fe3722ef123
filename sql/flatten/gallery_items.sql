-- grain: one row per photo of a gallery
-- keys: gallery_id, id
-- source: Gallery.items, merged with included.GalleryItem if present (spec 2.4)
with stated as (
    select
        _page,
        id as gallery_id,
        unnest(items) as item,
        generate_subscripts(items, 1)::integer as position
    from gallery
),

included as (
    select
        _page,
        object as item
    from page."GalleryItem"
),

resolved as (
    select
        stated._page,
        stated.gallery_id,
        stated.position,
        completed_gallery_item(included.item, stated.item) as item
    from stated
    left join included
        on stated._page = included._page and stated.item.id = included.item.id
)

select
    gallery_id,
    position,
    item.id,
    item."type",
    item.url,
    item.thumbnail_url,
    item.caption,
    item.taken_at,
    item.device_info,
    item.media_info,
    item.created_at,
    _page
from resolved
