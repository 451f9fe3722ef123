-- grain: one row per ship-to location of a retailer
-- keys: id
-- source: included.RetailerShipToLocation (spec 2.5)
-- notes: the service sends street as one text or as a list of lines
with stated as (
    select
        _page,
        object as ship_to
    from page."RetailerShipToLocation"
)

select
    ship_to.id,
    ship_to.code,
    ship_to.qualifier,
    ship_to.label,
    ship_to.location_type,
    ship_to.company,
    case json_type(ship_to.street)
        when 'ARRAY' then array_to_string(from_json(ship_to.street, '["VARCHAR"]'), chr(10))
        else ship_to.street ->> '$'
    end as street,
    ship_to.city,
    ship_to.region_id,
    ship_to.region,
    ship_to.postcode,
    ship_to.country_id,
    ship_to.is_default,
    ship_to.status,
    ship_to.retailer.id as retailer_id,
    ship_to.created_at,
    ship_to.updated_at,
    _page
from stated
