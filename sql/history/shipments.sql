-- grain: one row per received version of a shipment
-- keys: id, version
-- source: the Parquet files of shipments, in the transaction that merges them
-- notes: versions are in the order of merging; adjacent readings that agree in all tracked columns (those after updated_at) are one version; the version at a moment t is the row with valid_from <= t and (valid_to > t or valid_to is null); changes between two readings are unknown
create table history.shipments (
    id bigint not null, -- The shipment; joins shipments.id.
    version integer not null, -- Number of the version, from 1, in the order of merging.
    valid_from timestamptz not null, -- Start of validity, inclusive (UTC): updated_at; seen_at if updated_at is missing, later than seen_at, or not after that of earlier versions.
    valid_to timestamptz, -- End of validity, exclusive (UTC): valid_from of the next version, or the time since which the service does not have the shipment; null while the version is valid.
    is_current boolean not null, -- Whether this is the latest version, which is in shipments.
    seen_at timestamptz not null, -- When a page first contained this version (UTC).
    last_seen_at timestamptz not null, -- When a page last contained this version before another version replaced it (UTC).
    updated_at timestamptz, -- updated_at of the shipment when this version was first seen (UTC).
    status varchar, -- Status, an open set; values seen: new, picking, picked, packing, packed, shipped, canceled, voided. Source: Shipment.status
    warehouse_id bigint, -- The warehouse that the shipment leaves from; joins warehouses.id. Source: Shipment.warehouse.id
    order_id bigint, -- The order that the shipment fulfills; joins orders.id. Source: Shipment.order.id
    retailer_id bigint, -- The retailer; joins retailers.id. Source: Shipment.retailer.id
    retailer_ship_to_location_id bigint, -- Ship-to location; joins retailer_ship_to_locations.id. Source: Shipment.retailer_ship_to_location.id
    shipping_carrier_code varchar, -- Code of the carrier. Source: Shipment.shipping_carrier_code
    shipping_method varchar, -- Code of the shipping method, carrier and service. Source: Shipment.shipping_method
    shipping_service_code varchar, -- Code of the carrier's service. Source: Shipment.shipping_service_code
    target_ship_date date, -- Day by which the shipment should leave. Source: Shipment.target_ship_date
    packed_at timestamptz, -- Time of packing (UTC). Source: Shipment.packed_at
    is_cutoff_date_exception boolean, -- Whether the shipment is an exception to the cutoff date. Source: Shipment.is_cutoff_date_exception
    is_manually_processed boolean, -- Whether the shipment was processed manually. Source: Shipment.is_manually_processed
    shipped_weight_value double, -- Weight that was shipped, in shipped_weight_unit. Source: Shipment.shipped_weight.value
    shipped_weight_unit varchar, -- Unit of shipped_weight_value; the service uses lb. Source: Shipment.shipped_weight.unit
    total_weight_value double, -- Total weight, in total_weight_unit. Source: Shipment.total_weight.value
    total_weight_unit varchar, -- Unit of total_weight_value; the service uses lb. Source: Shipment.total_weight.unit
    carrier_shipping_cost decimal(18, 4), -- Amount charged by the carrier; the service sends no currency. Source: Shipment.carrier_shipping_cost
    _window_id varchar, -- Window in which this version was first seen. Source: wms-sync
    _page integer -- Number of the page in that window. Source: wms-sync
)
