-- grain: one row per address proposed for an order
-- keys: order_id, position
-- same: id
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.address_candidates, merged with included.OrderAddressCandidate if present (spec 2.5, 4.5)
-- notes: street, city and postal code are personal data, in pii.order_address_candidates
create table order_address_candidates (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    position integer, -- Position of the candidate in the list, from 1. Source: order of Order.address_candidates
    id bigint, -- The candidate. Source: OrderAddressCandidate.id
    address_id bigint, -- Id of the address that the candidate would replace. Source: OrderAddressCandidate.address_id
    region_code varchar, -- Code of the region. Source: OrderAddressCandidate.region_code
    country_code varchar, -- Code of the country, two letters. Source: OrderAddressCandidate.country_code
    classification varchar, -- Residential, commercial and the like. Source: OrderAddressCandidate.classification
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
