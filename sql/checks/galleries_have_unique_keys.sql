-- severity: error
-- blocking: yes
-- table: galleries
-- description: No two rows of galleries have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from galleries
group by all
having count(*) > 1 or id is null
