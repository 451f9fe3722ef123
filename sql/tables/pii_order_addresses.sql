-- grain: one row an address of an order
-- keys: order_id, role
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.shipping_address and Order.original_address, with included.OrderAddress where it is there (spec 2.5)
-- notes: personal data: read and stored only with WMS_INCLUDE_ADDRESSES
create table pii.order_addresses (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    role varchar, -- Which address of the order: shipping or original. Source: name of the field in Order
    id bigint, -- The address. Source: OrderAddress.id
    first_name varchar, -- First name. Source: OrderAddress.first_name
    last_name varchar, -- Last name. Source: OrderAddress.last_name
    company varchar, -- Company. Source: OrderAddress.company
    street varchar[], -- Street, line by line. Source: OrderAddress.street
    city varchar, -- City. Source: OrderAddress.city
    region varchar, -- Region. Source: OrderAddress.region
    postcode varchar, -- Postal code. Source: OrderAddress.postcode
    country varchar, -- Country. Source: OrderAddress.country
    telephone varchar, -- Telephone number. Source: OrderAddress.telephone
    email varchar, -- Email address. Source: OrderAddress.email
    classification varchar, -- Residential, commercial and the like. Source: OrderAddress.classification
    is_valid boolean, -- Whether the address was found valid. Source: OrderAddress.is_valid
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
