-- grain: one row per retailer
-- keys: id
-- root: retailers by id
-- newer: updated_at
-- source: included.Retailer (spec 2.2)
create table retailers (
    id bigint, -- The retailer. Source: Retailer.id
    "type" varchar, -- Kind of object, as the service names it. Source: Retailer.type
    code varchar, -- Code, unique in the service. Source: Retailer.code
    "name" varchar, -- Name. Source: Retailer.name
    status varchar, -- active or archived. Source: Retailer.status
    fulfillment_model varchar, -- wholesale, drop_ship or mixed. Source: Retailer.fulfillment_model
    parent_retailer_id bigint, -- The parent retailer; joins retailers.id. Source: Retailer.parent_retailer.id
    legal_name varchar, -- Legal name. Source: Retailer.legal_name
    dba varchar, -- Doing-business-as name. Source: Retailer.dba
    default_duties_payor varchar, -- Default for the party that pays duties: shipper, recipient or third_party. Source: Retailer.default_duties_payor
    default_shipping_method varchar, -- Default shipping method. Source: Retailer.default_shipping_method
    allowed_shipping_methods varchar[], -- Allowed shipping methods. Source: Retailer.allowed_shipping_methods
    routing_guide_notes varchar, -- Notes on the routing guide. Source: Retailer.routing_guide_notes
    custom_fields json, -- Custom fields by code, as received. Source: Retailer.custom_fields
    created_at timestamptz, -- Time of creation (UTC). Source: Retailer.created_at
    updated_at timestamptz, -- Time of the last change (UTC). Source: Retailer.updated_at
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
