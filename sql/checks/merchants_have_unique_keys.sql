-- severity: error
-- blocking: yes
-- table: merchants
-- description: No two rows of merchants have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from merchants
group by all
having count(*) > 1 or id is null
