-- grain: one row per address of an order
-- keys: order_id, role
-- same: id
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.shipping_address and Order.original_address, merged with included.OrderAddress if present (spec 2.5)
-- notes: personal data, requested and stored only with WMS_INCLUDE_ADDRESSES
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
    is_valid boolean, -- Whether the service validated the address. Source: OrderAddress.is_valid
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
