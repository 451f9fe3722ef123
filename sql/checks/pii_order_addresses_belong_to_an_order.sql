-- severity: error
-- blocking: yes
-- table: pii_order_addresses
-- description: Every order address belongs to an order that is there.
select
    child.order_id,
    child.role
from pii.order_addresses as child
anti join orders as parent
    on child.order_id = parent.id
