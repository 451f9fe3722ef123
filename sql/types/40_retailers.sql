-- Retailers, their ship-to locations, and third-party billing groups (spec 2.2, 2.5).
create type retailer as struct(
    "type" varchar,
    id bigint,
    code varchar,
    "name" varchar,
    status varchar,
    fulfillment_model varchar,
    parent_retailer reference,
    legal_name varchar,
    dba varchar,
    default_duties_payor varchar,
    default_shipping_method varchar,
    allowed_shipping_methods varchar[],
    routing_guide_notes varchar,
    custom_fields json,
    created_at timestamptz,
    updated_at timestamptz
);
-- The specification does not say whether street is a string or a list of lines, so it is read as JSON.
create type retailer_ship_to_location as struct(
    "type" varchar,
    id bigint,
    code varchar,
    qualifier varchar,
    label varchar,
    location_type varchar,
    company varchar,
    street json,
    city varchar,
    region_id varchar,
    region varchar,
    postcode varchar,
    country_id varchar,
    telephone varchar,
    email varchar,
    is_default boolean,
    status varchar,
    retailer reference,
    created_at timestamptz,
    updated_at timestamptz
);
create type third_party_billing_group as struct(
    "type" varchar,
    id bigint,
    label varchar,
    status varchar
);
