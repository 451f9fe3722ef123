-- severity: error
-- blocking: yes
-- table: packing_solution_containers
-- description: No two rows of packing_solution_containers have the same shipment_id, position, and none lacks one of them.
select
    shipment_id,
    position,
    count(*) as occurrences
from packing_solution_containers
group by all
having count(*) > 1 or shipment_id is null or position is null
