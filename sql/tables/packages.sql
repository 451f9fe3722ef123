-- grain: one row per package of a shipment
-- keys: shipment_id, position
-- same: id, created_at
-- root: shipments by shipment_id
-- newer: _extracted_at
-- source: Shipment.packages, merged with included.ShipmentPackage if present (spec 2.4, 4.5)
-- notes: a package may have no id; its position in the shipment identifies it
create table packages (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    position integer, -- Position of the package in the shipment, from 1. Source: order of Shipment.packages
    id bigint, -- Id of the package, if the service sends one. Source: ShipmentPackage.id
    tracking_ref varchar, -- Tracking number. Source: ShipmentPackage.tracking_ref
    alt_tracking_number varchar, -- A second tracking number. Source: ShipmentPackage.alt_tracking_number
    alt_tracking_description varchar, -- Description of the second tracking number. Source: ShipmentPackage.alt_tracking_description
    billable_weight_value double, -- Weight that the carrier bills, in billable_weight_unit. Source: ShipmentPackage.billable_weight.value
    billable_weight_unit varchar, -- Unit of billable_weight_value; the service uses lb. Source: ShipmentPackage.billable_weight.unit
    dimensional_weight_value double, -- Weight computed from the dimensions, in dimensional_weight_unit. Source: ShipmentPackage.dimensional_weight.value
    dimensional_weight_unit varchar, -- Unit of dimensional_weight_value; the service uses lb. Source: ShipmentPackage.dimensional_weight.unit
    dimensional_weight_divisor decimal(18, 4), -- Divisor of the dimensional weight, cubic inches per pound. Source: ShipmentPackage.dimensional_weight_divisor
    total_item_volume_value double, -- Volume of the items inside, in total_item_volume_unit. Source: ShipmentPackage.total_item_volume.value
    total_item_volume_unit varchar, -- Unit of total_item_volume_value; the service uses in^3. Source: ShipmentPackage.total_item_volume.unit
    total_void_percent double, -- Empty part of the package, in percent. Source: ShipmentPackage.total_void_percent
    container_style varchar, -- Style of the container. Source: ShipmentPackage.container_style
    num_cartons decimal(18, 4), -- Number of cartons. Source: ShipmentPackage.num_cartons
    sscc varchar, -- Serial Shipping Container Code. Source: ShipmentPackage.sscc
    manifest_courier_code varchar, -- Code of the courier on the manifest. Source: ShipmentPackage.manifest_courier_code
    container json, -- Container of the package, as received. Source: ShipmentPackage.container
    container_id bigint, -- Container of the package; joins products.id. Source: ShipmentPackage.container.id
    container_type varchar, -- Kind of the object that container_id refers to. Source: ShipmentPackage.container.type
    infill json, -- Infill of the package, as received. Source: ShipmentPackage.infill
    infill_id bigint, -- Infill of the package; joins products.id. Source: ShipmentPackage.infill.id
    infill_type varchar, -- Kind of the object that infill_id refers to. Source: ShipmentPackage.infill.type
    gallery_id bigint, -- Its photo gallery; joins galleries.id. Source: ShipmentPackage.gallery.id
    created_at timestamptz, -- Time of creation (UTC). Source: ShipmentPackage.created_at
    updated_at timestamptz, -- Time of the last change (UTC). Source: ShipmentPackage.updated_at
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
