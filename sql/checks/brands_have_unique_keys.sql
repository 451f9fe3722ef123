-- severity: error
-- blocking: yes
-- table: brands
-- description: No two rows of brands have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from brands
group by all
having count(*) > 1 or id is null
