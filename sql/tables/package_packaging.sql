-- grain: one row a packaging item used in a package
-- keys: shipment_id, package_position, position
-- root: shipments by shipment_id
-- parent: packages by shipment_id, package_position
-- newer: _extracted_at
-- source: ShipmentPackage.packaging (spec 2.4)
create table package_packaging (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    package_position integer, -- The package; joins packages.position. Source: order of Shipment.packages
    position integer, -- Place in the list, from 1. Source: order of ShipmentPackage.packaging
    product_id bigint, -- The packaging item; joins products.id. Source: ShipmentPackage.packaging[].product.id
    product_type varchar, -- Kind of the object that product_id names: Product or a packaging kind. Source: ShipmentPackage.packaging[].product.type
    quantity decimal(18, 4), -- Quantity used, in pieces. Source: ShipmentPackage.packaging[].quantity
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
