-- severity: error
-- blocking: yes
-- table: orders
-- description: No two rows of orders have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from orders
group by all
having count(*) > 1 or id is null
