-- severity: error
-- blocking: yes
-- table: third_party_billing_groups
-- description: No two rows of third_party_billing_groups have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from third_party_billing_groups
group by all
having count(*) > 1 or id is null
