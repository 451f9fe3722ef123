-- severity: error
-- blocking: yes
-- table: order_status_history
-- description: No two rows of order_status_history have the same order_id, position, and none lacks one of them.
select
    order_id,
    position,
    count(*) as occurrences
from order_status_history
group by all
having count(*) > 1 or order_id is null or position is null
