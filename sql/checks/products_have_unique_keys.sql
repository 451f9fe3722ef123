-- severity: error
-- blocking: yes
-- table: products
-- description: No two rows of products have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from products
group by all
having count(*) > 1 or id is null
