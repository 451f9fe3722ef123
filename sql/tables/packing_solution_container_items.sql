-- grain: one row per item in a container of a packing solution
-- keys: shipment_id, container_position, position
-- same: sku
-- root: shipments by shipment_id
-- parent: packing_solution_containers by shipment_id, container_position
-- newer: _extracted_at
-- source: ShipmentPackingSolution.containers[].items (spec 2.4)
create table packing_solution_container_items (
    shipment_id bigint, -- The shipment; joins packing_solutions.shipment_id. Source: Shipment.id
    container_position integer, -- The container; joins packing_solution_containers.position. Source: order of ShipmentPackingSolution.containers
    position integer, -- Position of the item in the container, from 1. Source: order of ShipmentPackingSolution.containers[].items
    id bigint, -- Id of the item, if the service sends one. Source: ShipmentPackingSolution.containers[].items[].id
    "type" varchar, -- Kind of object, as the service names it. Source: ShipmentPackingSolution.containers[].items[].type
    sku varchar, -- Stock keeping unit. Source: ShipmentPackingSolution.containers[].items[].sku
    quantity decimal(18, 4), -- Quantity in the container, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentPackingSolution.containers[].items[].quantity
    order_item_id bigint, -- The order item; joins order_items.id. Source: ShipmentPackingSolution.containers[].items[].order_item_id
    order_item_sku varchar, -- Stock keeping unit of the order item. Source: ShipmentPackingSolution.containers[].items[].order_item_sku
    order_item_quantity decimal(18, 4), -- Quantity of the order item, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentPackingSolution.containers[].items[].order_item_qty
    shipment_item_id bigint, -- The shipment item; joins shipment_items.id. Source: ShipmentPackingSolution.containers[].items[].shipment_item_id
    weight_value double, -- Weight, in weight_unit. Source: ShipmentPackingSolution.containers[].items[].weight.value
    weight_unit varchar, -- Unit of weight_value; the service uses lb. Source: ShipmentPackingSolution.containers[].items[].weight.unit
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
