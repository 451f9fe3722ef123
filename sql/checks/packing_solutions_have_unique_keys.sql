-- severity: error
-- blocking: yes
-- table: packing_solutions
-- description: No two rows of packing_solutions have the same shipment_id, and none lacks one of them.
select
    shipment_id,
    count(*) as occurrences
from packing_solutions
group by all
having count(*) > 1 or shipment_id is null
