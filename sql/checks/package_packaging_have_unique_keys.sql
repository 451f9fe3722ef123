-- severity: error
-- blocking: yes
-- table: package_packaging
-- description: No two rows of package_packaging have the same shipment_id, package_position, position, and none lacks one of them.
select
    shipment_id,
    package_position,
    position,
    count(*) as occurrences
from package_packaging
group by all
having count(*) > 1 or shipment_id is null or package_position is null or position is null
