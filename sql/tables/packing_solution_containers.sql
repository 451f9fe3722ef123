-- grain: one row per container of a packing solution
-- keys: shipment_id, position
-- same: id
-- root: shipments by shipment_id
-- parent: packing_solutions by shipment_id
-- newer: _extracted_at
-- source: ShipmentPackingSolution.containers (spec 2.4)
create table packing_solution_containers (
    shipment_id bigint, -- The shipment; joins packing_solutions.shipment_id. Source: Shipment.id
    position integer, -- Position of the container in the solution, from 1. Source: order of ShipmentPackingSolution.containers
    id bigint, -- Id of the container, if the service sends one. Source: ShipmentPackingSolution.containers[].id
    "type" varchar, -- Kind of object, as the service names it. Source: ShipmentPackingSolution.containers[].type
    weight_value double, -- Weight, in weight_unit. Source: ShipmentPackingSolution.containers[].weight.value
    weight_unit varchar, -- Unit of weight_value; the service uses lb. Source: ShipmentPackingSolution.containers[].weight.unit
    dimensions_length double, -- Length of the container, in dimensions_unit. Source: ShipmentPackingSolution.containers[].dimensions.length
    dimensions_width double, -- Width of the container, in dimensions_unit. Source: ShipmentPackingSolution.containers[].dimensions.width
    dimensions_height double, -- Height of the container, in dimensions_unit. Source: ShipmentPackingSolution.containers[].dimensions.height
    dimensions_unit varchar, -- Unit of the dimensions; the service uses in (inches). Source: ShipmentPackingSolution.containers[].dimensions.unit
    volume_value double, -- Volume, in volume_unit. Source: ShipmentPackingSolution.containers[].volume.value
    volume_unit varchar, -- Unit of volume_value; the service uses in^3. Source: ShipmentPackingSolution.containers[].volume.unit
    void_percent double, -- Empty part of the container, in percent. Source: ShipmentPackingSolution.containers[].void_percent
    regulation_type varchar, -- Kind of regulation that applies to the goods in the container. Source: ShipmentPackingSolution.containers[].regulation_type
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
