-- severity: warn
-- blocking: no
-- table: shipments
-- asked: the rows of shipments, orders
-- description: Every shipment that left has a time of leaving, from its order or its packing. Without it, marts know neither the day nor whether it was late.
-- wrong: {count} [shipment|shipments] left at an unknown time, so marts know neither the day nor whether [it was|they were] late
-- named: {shipment_id}
-- notes: these are the shipments with left_at_source unknown in marts.shipment_timeline; a query of the mart itself would read all shipments
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
