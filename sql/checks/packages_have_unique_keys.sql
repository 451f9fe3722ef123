-- severity: error
-- blocking: yes
-- table: packages
-- description: No two rows of packages have the same shipment_id, position, and none lacks one of them.
select
    shipment_id,
    position,
    count(*) as occurrences
from packages
group by all
having count(*) > 1 or shipment_id is null or position is null
