-- grain: one row per shipment that has a packing solution
-- keys: shipment_id
-- same: id
-- root: shipments by shipment_id
-- newer: _extracted_at
-- source: Shipment.packing_solution, merged with included.ShipmentPackingSolution if present (spec 2.4)
create table packing_solutions (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    id bigint, -- The packing solution. Source: ShipmentPackingSolution.id
    "type" varchar, -- Kind of object, as the service names it. Source: ShipmentPackingSolution.type
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
