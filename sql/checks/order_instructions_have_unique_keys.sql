-- severity: error
-- blocking: yes
-- table: order_instructions
-- description: No two rows of order_instructions have the same order_id, position, and none lacks one of them.
select
    order_id,
    position,
    count(*) as occurrences
from order_instructions
group by all
having count(*) > 1 or order_id is null or position is null
