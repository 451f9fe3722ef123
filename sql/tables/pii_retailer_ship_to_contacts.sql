-- grain: one row per ship-to location of a retailer that has a telephone number or an email address
-- keys: retailer_ship_to_location_id
-- root: retailer_ship_to_locations by retailer_ship_to_location_id
-- newer: _extracted_at
-- source: included.RetailerShipToLocation (spec 2.5)
-- notes: personal data, requested and stored only with WMS_INCLUDE_ADDRESSES
create table pii.retailer_ship_to_contacts (
    retailer_ship_to_location_id bigint, -- The ship-to location; joins retailer_ship_to_locations.id. Source: RetailerShipToLocation.id
    telephone varchar, -- Telephone number. Source: RetailerShipToLocation.telephone
    email varchar, -- Email address. Source: RetailerShipToLocation.email
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
