-- severity: error
-- blocking: yes
-- table: packages
-- description: Every package belongs to a shipment that is there.
select
    child.shipment_id,
    child.position
from packages as child
anti join shipments as parent
    on child.shipment_id = parent.id
