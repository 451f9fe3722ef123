-- severity: error
-- blocking: no
-- table: shipment_items
-- description: No two rows of shipment_items have the same shipment_id, id, and none lacks one of them.
-- notes: of an item that a list names twice the first is kept (flatten/twice.py); one more must not stop the publishing
select
    shipment_id,
    id,
    count(*) as occurrences
from shipment_items
group by all
having count(*) > 1 or shipment_id is null or id is null
