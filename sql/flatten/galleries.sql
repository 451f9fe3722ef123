-- grain: one row per photo gallery
-- keys: id
-- needs: gallery
-- source: included.Gallery, or the whole gallery inside a shipment or a package (spec 2.4)
select
    id,
    "type",
    photo_count,
    updated_at,
    _page
from gallery
