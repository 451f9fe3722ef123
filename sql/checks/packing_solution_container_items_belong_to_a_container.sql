-- severity: error
-- blocking: yes
-- table: packing_solution_container_items
-- description: Every item of a container belongs to a container that is there.
select
    child.shipment_id,
    child.container_position,
    child.position
from packing_solution_container_items as child
anti join packing_solution_containers as parent
    on child.shipment_id = parent.shipment_id and child.container_position = parent.position
