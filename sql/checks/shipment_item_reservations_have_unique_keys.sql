-- severity: error
-- blocking: yes
-- table: shipment_item_reservations
-- description: No two rows of shipment_item_reservations have the same shipment_id, shipment_item_id, position, and none lacks one of them.
select
    shipment_id,
    shipment_item_id,
    position,
    count(*) as occurrences
from shipment_item_reservations
group by all
having count(*) > 1 or shipment_id is null or shipment_item_id is null or position is null
