-- grain: one row a gallery of a page
-- kept: yes
-- source: included.Gallery, and galleries that stand in a shipment or a package with more than type and id
-- notes: the included one wins over those inside
with stated as (
    select
        _page,
        object as gallery,
        1 as precedence
    from page."Gallery"
    union all
    select
        _page,
        gallery,
        2 as precedence
    from shipment
    where gallery.photo_count is not null or gallery.updated_at is not null or gallery.items is not null
    union all
    select
        _page,
        gallery,
        3 as precedence
    from package
    where gallery.photo_count is not null or gallery.updated_at is not null or gallery.items is not null
),

chosen as (
    select *
    from stated
    qualify row_number() over (partition by _page, gallery.id order by precedence) = 1
)

select
    _page,
    unnest(gallery)
from chosen
