-- severity: error
-- blocking: yes
-- table: packing_solution_container_items
-- description: No two rows of packing_solution_container_items have the same shipment_id, container_position, position, and none lacks one of them.
select
    shipment_id,
    container_position,
    position,
    count(*) as occurrences
from packing_solution_container_items
group by all
having count(*) > 1 or shipment_id is null or container_position is null or position is null
