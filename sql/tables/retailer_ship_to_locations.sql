-- grain: one row per ship-to location of a retailer
-- keys: id
-- root: retailer_ship_to_locations by id
-- newer: updated_at
-- source: included.RetailerShipToLocation (spec 2.5)
-- notes: telephone and email are personal data, in pii.retailer_ship_to_contacts
create table retailer_ship_to_locations (
    id bigint, -- The ship-to location. Source: RetailerShipToLocation.id
    code varchar, -- Code. Source: RetailerShipToLocation.code
    qualifier varchar, -- Qualifier of the code. Source: RetailerShipToLocation.qualifier
    label varchar, -- Label. Source: RetailerShipToLocation.label
    location_type varchar, -- dc, store, mark_for, drop_ship or other. Source: RetailerShipToLocation.location_type
    company varchar, -- Company. Source: RetailerShipToLocation.company
    street varchar, -- Street; line breaks separate several lines. Source: RetailerShipToLocation.street
    city varchar, -- City. Source: RetailerShipToLocation.city
    region_id varchar, -- Number or code of the region. Source: RetailerShipToLocation.region_id
    region varchar, -- Region. Source: RetailerShipToLocation.region
    postcode varchar, -- Postal code. Source: RetailerShipToLocation.postcode
    country_id varchar, -- Code of the country. Source: RetailerShipToLocation.country_id
    is_default boolean, -- Whether this is the retailer's default location. Source: RetailerShipToLocation.is_default
    status varchar, -- active or inactive. Source: RetailerShipToLocation.status
    retailer_id bigint, -- The retailer; joins retailers.id. Source: RetailerShipToLocation.retailer.id
    created_at timestamptz, -- Time of creation (UTC). Source: RetailerShipToLocation.created_at
    updated_at timestamptz, -- Time of the last change (UTC). Source: RetailerShipToLocation.updated_at
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
