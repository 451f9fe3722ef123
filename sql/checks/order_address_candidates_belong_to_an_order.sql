-- severity: error
-- blocking: yes
-- table: order_address_candidates
-- description: Every address candidate belongs to an order that is there.
select
    child.order_id,
    child.position
from order_address_candidates as child
anti join orders as parent
    on child.order_id = parent.id
