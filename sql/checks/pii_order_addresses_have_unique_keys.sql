-- severity: error
-- blocking: yes
-- table: pii_order_addresses
-- description: No two rows of pii.order_addresses have the same order_id, role, and none lacks one of them.
select
    order_id,
    role,
    count(*) as occurrences
from pii.order_addresses
group by all
having count(*) > 1 or order_id is null or role is null
