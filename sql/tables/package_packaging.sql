-- grain: one row per packaging item used in a package
-- keys: shipment_id, package_position, position
-- same: product_id
-- root: shipments by shipment_id
-- parent: packages by shipment_id, package_position
-- newer: _extracted_at
-- source: ShipmentPackage.packaging (spec 2.4)
create table package_packaging (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    package_position integer, -- The package; joins packages.position. Source: order of Shipment.packages
    position integer, -- Position in the list, from 1. Source: order of ShipmentPackage.packaging
    product_id bigint, -- The packaging item; joins products.id. Source: ShipmentPackage.packaging[].product.id
    product_type varchar, -- Kind of the object that product_id refers to: Product or a packaging kind. Source: ShipmentPackage.packaging[].product.type
    quantity decimal(18, 4), -- Quantity used, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentPackage.packaging[].quantity
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
