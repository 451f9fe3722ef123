-- severity: error
-- blocking: yes
-- table: pii_order_address_candidates
-- description: Every personal part of an address candidate belongs to an order that is there.
select
    child.order_id,
    child.position
from pii.order_address_candidates as child
anti join orders as parent
    on child.order_id = parent.id
