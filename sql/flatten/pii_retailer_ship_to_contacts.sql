-- grain: one row per ship-to location of a retailer that has a telephone number or an email address
-- keys: retailer_ship_to_location_id
-- source: included.RetailerShipToLocation (spec 2.5)
with stated as (
    select
        _page,
        object as ship_to
    from page."RetailerShipToLocation"
)

select
    ship_to.id as retailer_ship_to_location_id,
    ship_to.telephone,
    ship_to.email,
    _page
from stated
where coalesce(ship_to.telephone, ship_to.email) is not null
