-- severity: error
-- blocking: no
-- table: shipment_items
-- description: No two rows of shipment_items have the same shipment_id, id, and none lacks one of them.
-- notes: the service names the items of a list; were it to name one twice, that must not stop the publishing
select
    shipment_id,
    id,
    count(*) as occurrences
from shipment_items
group by all
having count(*) > 1 or shipment_id is null or id is null
