-- grain: one row per shipment in the table that the slice should contain
-- keys: id
-- source: shipments, as the last load left them
select id
from shipments
where id > $after_id and id <= $to_id and (updated_at is null or updated_at >= $start)
