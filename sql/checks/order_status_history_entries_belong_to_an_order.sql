-- severity: error
-- blocking: yes
-- table: order_status_history
-- description: Every change of status belongs to an order that is there.
select
    child.order_id,
    child.position
from order_status_history as child
anti join orders as parent
    on child.order_id = parent.id
