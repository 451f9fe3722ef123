-- grain: one row an address that was proposed for an order
-- keys: order_id, position
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.address_candidates, with included.OrderAddressCandidate where it is there (spec 2.5, 4.5)
-- notes: personal data: read and stored only with WMS_INCLUDE_ADDRESSES; the rest is in order_address_candidates
create table pii.order_address_candidates (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    position integer, -- Place of the candidate in the list, from 1; joins order_address_candidates.position. Source: order of Order.address_candidates
    street varchar, -- Street. Source: OrderAddressCandidate.street
    city varchar, -- City. Source: OrderAddressCandidate.city
    postal_code varchar, -- Postal code. Source: OrderAddressCandidate.postal_code
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
