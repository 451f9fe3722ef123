-- grain: one row a package of a shipment
-- keys: shipment_id, position
-- root: shipments by shipment_id
-- newer: _extracted_at
-- source: Shipment.packages, with included.ShipmentPackage where it is there (spec 2.4, 4.5)
-- notes: a package may have no id: its place in the shipment is its identity
create table packages (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    position integer, -- Place of the package in the shipment, from 1. Source: order of Shipment.packages
    id bigint, -- The package, where the service gives it an id. Source: ShipmentPackage.id
    tracking_ref varchar, -- Tracking number. Source: ShipmentPackage.tracking_ref
    alt_tracking_number varchar, -- A second tracking number. Source: ShipmentPackage.alt_tracking_number
    alt_tracking_description varchar, -- What the second tracking number is. Source: ShipmentPackage.alt_tracking_description
    billable_weight_value double, -- Weight that the carrier bills, in billable_weight_unit. Source: ShipmentPackage.billable_weight.value
    billable_weight_unit varchar, -- Unit of billable_weight_value; the service answers in lb. Source: ShipmentPackage.billable_weight.unit
    dimensional_weight_value double, -- Weight computed from the dimensions, in dimensional_weight_unit. Source: ShipmentPackage.dimensional_weight.value
    dimensional_weight_unit varchar, -- Unit of dimensional_weight_value; the service answers in lb. Source: ShipmentPackage.dimensional_weight.unit
    dimensional_weight_divisor decimal(18, 4), -- Divisor of the dimensional weight, cubic inches a pound. Source: ShipmentPackage.dimensional_weight_divisor
    total_item_volume_value double, -- Volume of the items inside, in total_item_volume_unit. Source: ShipmentPackage.total_item_volume.value
    total_item_volume_unit varchar, -- Unit of total_item_volume_value; the service answers in in^3. Source: ShipmentPackage.total_item_volume.unit
    total_void_percent double, -- Empty part of the package, in percent. Source: ShipmentPackage.total_void_percent
    container_style varchar, -- Style of the container. Source: ShipmentPackage.container_style
    num_cartons decimal(18, 4), -- Number of cartons. Source: ShipmentPackage.num_cartons
    sscc varchar, -- Serial Shipping Container Code. Source: ShipmentPackage.sscc
    manifest_courier_code varchar, -- Code of the courier on the manifest. Source: ShipmentPackage.manifest_courier_code
    container json, -- The container it is packed in, as it came. Source: ShipmentPackage.container
    container_id bigint, -- The container it is packed in; joins products.id. Source: ShipmentPackage.container.id
    container_type varchar, -- Kind of the object that container_id names. Source: ShipmentPackage.container.type
    infill json, -- The infill it is packed with, as it came. Source: ShipmentPackage.infill
    infill_id bigint, -- The infill it is packed with; joins products.id. Source: ShipmentPackage.infill.id
    infill_type varchar, -- Kind of the object that infill_id names. Source: ShipmentPackage.infill.type
    gallery_id bigint, -- Its photo gallery; joins galleries.id. Source: ShipmentPackage.gallery.id
    created_at timestamptz, -- When it was created (UTC). Source: ShipmentPackage.created_at
    updated_at timestamptz, -- When it was last changed (UTC). Source: ShipmentPackage.updated_at
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
