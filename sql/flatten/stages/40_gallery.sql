-- grain: one row a gallery of a page
-- kept: yes
-- source: included.Gallery, and galleries that stand in a shipment or a package with more than type and id
-- notes: the included one wins over those inside
with stated as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("Gallery") as gallery,
        1 as precedence
    from page
    union all
    select
        _window_id,
        _page,
        _extracted_at,
        gallery,
        2 as precedence
    from shipment
    where gallery.photo_count is not null or gallery.updated_at is not null or gallery.items is not null
    union all
    select
        _window_id,
        _page,
        _extracted_at,
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
    _window_id,
    _page,
    _extracted_at,
    unnest(gallery)
from chosen
