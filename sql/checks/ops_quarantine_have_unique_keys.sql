-- severity: error
-- blocking: yes
-- table: ops_quarantine
-- description: No two rows of ops.quarantine have the same page_key, position, and none lacks one of them.
select
    page_key,
    position,
    count(*) as occurrences
from ops.quarantine
group by all
having count(*) > 1 or page_key is null or position is null
