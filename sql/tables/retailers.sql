-- grain: one row a retailer
-- keys: id
-- root: retailers by id
-- newer: updated_at
-- source: included.Retailer (spec 2.2)
create table retailers (
    id bigint, -- The retailer. Source: Retailer.id
    "type" varchar, -- The kind of object, as the service names it. Source: Retailer.type
    code varchar, -- Code, unique in the service. Source: Retailer.code
    "name" varchar, -- Name. Source: Retailer.name
    status varchar, -- active or archived. Source: Retailer.status
    fulfillment_model varchar, -- wholesale, drop_ship or mixed. Source: Retailer.fulfillment_model
    parent_retailer_id bigint, -- The retailer above it; joins retailers.id. Source: Retailer.parent_retailer.id
    legal_name varchar, -- Legal name. Source: Retailer.legal_name
    dba varchar, -- Doing-business-as name. Source: Retailer.dba
    default_duties_payor varchar, -- Who pays duties unless an order says otherwise: shipper, recipient or third_party. Source: Retailer.default_duties_payor
    default_shipping_method varchar, -- Shipping method unless an order says otherwise. Source: Retailer.default_shipping_method
    allowed_shipping_methods varchar[], -- Shipping methods that are allowed. Source: Retailer.allowed_shipping_methods
    routing_guide_notes varchar, -- Notes on the routing guide. Source: Retailer.routing_guide_notes
    custom_fields json, -- Custom fields by code, as they came. Source: Retailer.custom_fields
    created_at timestamptz, -- When it was created (UTC). Source: Retailer.created_at
    updated_at timestamptz, -- When it was last changed (UTC). Source: Retailer.updated_at
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
