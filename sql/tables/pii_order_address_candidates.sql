-- grain: one row per address proposed for an order
-- keys: order_id, position
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.address_candidates, merged with included.OrderAddressCandidate if present (spec 2.5, 4.5)
-- notes: personal data, requested and stored only with WMS_INCLUDE_ADDRESSES; the other columns are in order_address_candidates
create table pii.order_address_candidates (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    position integer, -- Position of the candidate in the list, from 1; joins order_address_candidates.position. Source: order of Order.address_candidates
    street varchar, -- Street. Source: OrderAddressCandidate.street
    city varchar, -- City. Source: OrderAddressCandidate.city
    postal_code varchar, -- Postal code. Source: OrderAddressCandidate.postal_code
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
