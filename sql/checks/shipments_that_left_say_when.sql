-- severity: warn
-- blocking: no
-- table: shipments
-- description: For every shipment that left, its order or its packing says when; marts know of no other neither the day nor whether it was late.
select
    shipment_id,
    order_id,
    status
from marts.shipment_timeline
where left_at_source = 'unknown'
