-- severity: warn
-- blocking: no
-- table: shipments
-- asked: the rows of shipments
-- description: Every target ship date is within two years of the shipment's creation.
select
    id,
    created_at,
    target_ship_date
from shipments
where abs(date_diff('day', (created_at at time zone 'UTC')::date, target_ship_date)) > 730
