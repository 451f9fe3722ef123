-- severity: error
-- blocking: yes
-- table: pii_order_address_candidates
-- description: No two rows of pii.order_address_candidates have the same order_id, position, and none lacks one of them.
select
    order_id,
    position,
    count(*) as occurrences
from pii.order_address_candidates
group by all
having count(*) > 1 or order_id is null or position is null
