-- severity: error
-- blocking: yes
-- table: retailers
-- description: No two rows of retailers have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from retailers
group by all
having count(*) > 1 or id is null
