-- severity: warn
-- blocking: no
-- table: shipments
-- description: Every shipped shipment has a time, from its order or its packing. Without it, marts know neither the day nor whether it was on time.
-- wrong: {count} [shipment|shipments] [was|were] shipped at an unknown time, so marts know neither the day nor whether [it was|they were] on time
-- named: {shipment_id}
-- notes: these are the shipments with shipped_at_source unknown in marts.shipments; the view itself costs more
select
    shipments.id as shipment_id,
    shipments.order_id,
    shipments.status
from shipments
left join orders as fulfilled
    on shipments.order_id = fulfilled.id
where
    lower(shipments.status) = 'shipped'
    and shipments.packed_at is null
    and fulfilled.shipped_at is null
