-- severity: warn
-- blocking: no
-- table: shipments
-- asked: the rows of shipments, orders
-- description: For every shipment that left, its order or its packing says when; marts know of no other neither the day nor whether it was late.
-- wrong: {count} [shipment|shipments] left and nothing says when, so marts know neither the day nor whether [it was|they were] late
-- named: {shipment_id}
-- notes: these are the shipments of which marts.shipment_timeline has left_at_source unknown; asked of the mart itself, it would be asked of all shipments
with left_unpacked as (
    select
        id,
        order_id,
        status
    from shipments
    where lower(status) = 'shipped' and packed_at is null
    union
    select
        id,
        order_id,
        status
    from main.shipments
    where order_id in (select orders.id from orders) and lower(status) = 'shipped' and packed_at is null
)

select
    left_unpacked.id as shipment_id,
    left_unpacked.order_id,
    left_unpacked.status
from left_unpacked
left join main.orders as fulfilled
    on left_unpacked.order_id = fulfilled.id
where fulfilled.shipped_at is null
