-- grain: one row a shipment that has a packing solution
-- keys: shipment_id
-- root: shipments by shipment_id
-- newer: _extracted_at
-- source: Shipment.packing_solution, with included.ShipmentPackingSolution where it is there (spec 2.4)
create table packing_solutions (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    id bigint, -- The packing solution. Source: ShipmentPackingSolution.id
    "type" varchar, -- The kind of object, as the service names it. Source: ShipmentPackingSolution.type
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
