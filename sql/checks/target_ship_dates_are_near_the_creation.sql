-- severity: warn
-- blocking: no
-- table: shipments
-- description: No shipment should leave more than two years away from the day it was created.
select
    id,
    created_at,
    target_ship_date
from shipments
where abs(date_diff('day', (created_at at time zone 'UTC')::date, target_ship_date)) > 730
