-- grain: one row per ship-to location of a retailer that has a telephone number or an email address
-- keys: retailer_ship_to_location_id
-- needs: RetailerShipToLocation
-- source: included.RetailerShipToLocation (spec 2.5)
select
    id as retailer_ship_to_location_id,
    telephone,
    email,
    _page
from page."RetailerShipToLocation"
where coalesce(telephone, email) is not null
