-- severity: error
-- blocking: yes
-- table: order_items
-- description: Every order item belongs to an order that is there.
select
    child.order_id,
    child.id
from order_items as child
anti join orders as parent
    on child.order_id = parent.id
