-- grain: one row a shipment that has a packing solution
-- keys: shipment_id
-- source: Shipment.packing_solution, with included.ShipmentPackingSolution where it is there (spec 2.4)
select
    shipment_id,
    id,
    "type",
    _page
from packing_solution
