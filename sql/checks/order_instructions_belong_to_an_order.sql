-- severity: error
-- blocking: yes
-- table: order_instructions
-- description: Every instruction belongs to an order that is there.
select
    child.order_id,
    child.position
from order_instructions as child
anti join orders as parent
    on child.order_id = parent.id
