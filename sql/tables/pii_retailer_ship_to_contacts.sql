-- grain: one row a place that a retailer is shipped to and that has a telephone number or an email address
-- keys: retailer_ship_to_location_id
-- root: retailer_ship_to_locations by retailer_ship_to_location_id
-- newer: _extracted_at
-- source: included.RetailerShipToLocation (spec 2.5)
-- notes: personal data: read and stored only with WMS_INCLUDE_ADDRESSES
create table pii.retailer_ship_to_contacts (
    retailer_ship_to_location_id bigint, -- The place; joins retailer_ship_to_locations.id. Source: RetailerShipToLocation.id
    telephone varchar, -- Telephone number. Source: RetailerShipToLocation.telephone
    email varchar, -- Email address. Source: RetailerShipToLocation.email
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
