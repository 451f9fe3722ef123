-- grain: one row per shipment that has a packing solution
-- keys: shipment_id
-- needs: packing_solution
-- source: Shipment.packing_solution, merged with included.ShipmentPackingSolution if present (spec 2.4)
select
    shipment_id,
    id,
    "type",
    _page
from packing_solution
