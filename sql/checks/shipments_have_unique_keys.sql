-- severity: error
-- blocking: yes
-- table: shipments
-- description: No two rows of shipments have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from shipments
group by all
having count(*) > 1 or id is null
