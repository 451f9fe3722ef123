-- severity: error
-- blocking: yes
-- table: warehouses
-- description: No two rows of warehouses have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from warehouses
group by all
having count(*) > 1 or id is null
