-- severity: error
-- blocking: yes
-- table: packing_solution_containers
-- description: Every container belongs to a packing solution that is there.
select
    child.shipment_id,
    child.position
from packing_solution_containers as child
anti join packing_solutions as parent
    on child.shipment_id = parent.shipment_id
