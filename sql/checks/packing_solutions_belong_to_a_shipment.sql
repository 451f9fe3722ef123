-- severity: error
-- blocking: yes
-- table: packing_solutions
-- description: Every packing solution belongs to a shipment that is there.
select child.shipment_id
from packing_solutions as child
anti join shipments as parent
    on child.shipment_id = parent.id
