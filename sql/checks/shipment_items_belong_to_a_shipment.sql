-- severity: error
-- blocking: yes
-- table: shipment_items
-- description: Every shipment item belongs to a shipment that is there.
select
    child.shipment_id,
    child.id
from shipment_items as child
anti join shipments as parent
    on child.shipment_id = parent.id
