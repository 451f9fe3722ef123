-- grain: one row per gallery of a page
-- source: included.Gallery, and galleries inside a shipment or a package that have more than type and id
-- notes: each field is taken from the included gallery, else from the gallery in the shipment, else from the gallery in a package
with stated as (
    select
        _page,
        1 as precedence,
        * exclude (_page)
    from page."Gallery"
    union all
    select
        _page,
        2 as precedence,
        unnest(gallery)
    from shipment
    where gallery.photo_count is not null or gallery.updated_at is not null or gallery.items is not null
    union all
    select
        _page,
        3 as precedence,
        unnest(gallery)
    from package
    where gallery.photo_count is not null or gallery.updated_at is not null or gallery.items is not null
)

select
    _page,
    id,
    arg_min("type", precedence) as "type",
    arg_min(photo_count, precedence) as photo_count,
    arg_min(updated_at, precedence) as updated_at,
    arg_min(items, precedence) as items
from stated
group by _page, id
