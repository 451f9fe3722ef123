-- grain: one row per package of a shipment
-- keys: shipment_id, position
-- needs: package
-- source: Shipment.packages, merged with included.ShipmentPackage if present (spec 2.4, 4.5)
select
    shipment_id,
    position,
    id,
    tracking_ref,
    alt_tracking_number,
    alt_tracking_description,
    billable_weight."value" as billable_weight_value,
    billable_weight.unit as billable_weight_unit,
    dimensional_weight."value" as dimensional_weight_value,
    dimensional_weight.unit as dimensional_weight_unit,
    dimensional_weight_divisor,
    total_item_volume."value" as total_item_volume_value,
    total_item_volume.unit as total_item_volume_unit,
    total_void_percent,
    container_style,
    num_cartons,
    sscc,
    manifest_courier_code,
    container,
    try_cast(container ->> '$.id' as bigint) as container_id,
    container ->> '$.type' as container_type,
    infill,
    try_cast(infill ->> '$.id' as bigint) as infill_id,
    infill ->> '$.type' as infill_type,
    gallery.id as gallery_id,
    created_at,
    updated_at,
    _page
from package
