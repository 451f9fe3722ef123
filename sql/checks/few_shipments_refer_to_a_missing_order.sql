-- severity: warn
-- blocking: no
-- table: shipments
-- description: At most 1 % of the shipments refer to an order that the service did not send (kind Order, requested by fields:order).
-- wrong: The service did not send the order of {dangling} of {rows_with_a_reference} [shipment|shipments] (kind Order, requested by fields:order)
-- notes: a few dangling references are normal; many mean that field selection no longer returns the kind
with referring as (
    select
        count(*) as rows_with_a_reference,
        count(*) filter (where target.id is null) as dangling
    from shipments as referring
    left join orders as target
        on referring.order_id = target.id
    where referring.order_id is not null
)

select
    rows_with_a_reference,
    dangling
from referring
where dangling > 0.01 * rows_with_a_reference
