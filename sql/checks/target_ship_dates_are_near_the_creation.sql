-- severity: warn
-- blocking: no
-- table: shipments
-- description: Every target ship date is within two years of the shipment's creation.
-- wrong: {count} target ship [date is|dates are] more than two years from the shipment's creation
-- named: {target_ship_date} (shipment {id})
select
    id,
    created_at,
    target_ship_date
from shipments
where abs(date_diff('day', make_timestamp(epoch_us(created_at))::date, target_ship_date)) > 730
