-- grain: one row per received version of an order
-- keys: id, version
-- source: the Parquet files of orders, in the transaction that merges them
-- notes: versions are in the order of merging; adjacent readings that agree in all tracked columns (those after updated_at) are one version; the version at a moment t is the row with valid_from <= t and (valid_to > t or valid_to is null); changes between two readings are unknown
create table history.orders (
    id bigint not null, -- The order; joins orders.id.
    version integer not null, -- Number of the version, from 1, in the order of merging.
    valid_from timestamptz not null, -- Start of validity, inclusive (UTC): updated_at; seen_at if updated_at is missing, later than seen_at, or not after that of earlier versions.
    valid_to timestamptz, -- End of validity, exclusive (UTC): valid_from of the next version; null while the version is valid.
    is_current boolean not null, -- Whether this is the latest version, which is in orders.
    seen_at timestamptz not null, -- When a page first contained this version (UTC).
    last_seen_at timestamptz not null, -- When a page last contained this version before another version replaced it (UTC).
    updated_at timestamptz, -- updated_at of the order when this version was first seen (UTC).
    state varchar, -- State, an open set; values seen: new, processing, complete, canceled, holded. Source: Order.state
    status varchar, -- Status, an open set; finer than state. Source: Order.status
    merchant_id bigint, -- The merchant; joins merchants.id. Source: Order.merchant.id
    brand_id bigint, -- The brand; joins brands.id. Source: Order.brand.id
    retailer_id bigint, -- The retailer; joins retailers.id. Source: Order.retailer.id
    carrier_code varchar, -- Code of the carrier. Source: Order.carrier_code
    shipping_method varchar, -- Code of the requested shipping method. Source: Order.shipping_method
    priority bigint, -- Priority. Source: Order.priority
    requested_ship_date date, -- Requested ship date. Source: Order.requested_ship_date
    desired_delivery_date date, -- Desired day of delivery. Source: Order.desired_delivery_date
    can_fulfill boolean, -- Whether the order can be fulfilled. Source: Order.can_fulfill
    can_fulfill_at timestamptz, -- Time from which the order can be fulfilled (UTC). Source: Order.can_fulfill_at
    hold_until_time timestamptz, -- Time until which the order is held (UTC). Source: Order.hold_until_time
    backorder_policy varchar, -- Policy if stock is insufficient. Source: Order.backorder_policy
    is_address_modified boolean, -- Whether the address was changed. Source: Order.is_address_modified
    total_item_count decimal(18, 4), -- Total quantity of items, in pieces. Source: Order.total_item_count
    completed_at timestamptz, -- Time of completion (UTC). Source: Order.completed_at
    shipped_at timestamptz, -- When the order was shipped (UTC). Source: Order.shipped_at
    delivered_at timestamptz, -- When the order was delivered (UTC). Source: Order.delivered_at
    _window_id varchar, -- Window in which this version was first seen. Source: wms-sync
    _page integer -- Number of the page in that window. Source: wms-sync
)
