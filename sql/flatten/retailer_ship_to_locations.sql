-- grain: one row per ship-to location of a retailer
-- keys: id
-- needs: RetailerShipToLocation
-- source: included.RetailerShipToLocation (spec 2.5)
-- notes: the service sends street as a string or as a list of lines
select
    id,
    code,
    qualifier,
    label,
    location_type,
    company,
    case json_type(street)
        when 'ARRAY' then array_to_string(from_json(street, '["VARCHAR"]'), chr(10))
        else street ->> '$'
    end as street,
    city,
    region_id,
    region,
    postcode,
    country_id,
    is_default,
    status,
    retailer.id as retailer_id,
    created_at,
    updated_at,
    _page
from page."RetailerShipToLocation"
