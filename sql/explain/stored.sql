-- grain: one row if a shipment with this id is in the table
-- keys: id
-- source: shipments, as published
select id
from shipments
where id = $id
