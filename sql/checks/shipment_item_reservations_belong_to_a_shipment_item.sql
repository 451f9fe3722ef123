-- severity: error
-- blocking: yes
-- table: shipment_item_reservations
-- description: Every reservation belongs to a shipment item that is there.
select
    child.shipment_id,
    child.shipment_item_id,
    child.position
from shipment_item_reservations as child
anti join shipment_items as parent
    on child.shipment_id = parent.shipment_id and child.shipment_item_id = parent.id
