-- severity: warn
-- blocking: no
-- table: order_items
-- description: At most 1 % of the order items refer to a product that the service did not send (kind Product, requested by fields:order.items.product).
-- wrong: The service did not send the product of {dangling} of {rows_with_a_reference} [order item|order items] (kind Product, requested by fields:order.items.product)
-- notes: a few dangling references are normal; many mean that field selection no longer returns the kind
with referring as (
    select
        count(*) as rows_with_a_reference,
        count(*) filter (where target.id is null) as dangling
    from order_items as referring
    left join products as target
        on referring.product_id = target.id
    where referring.product_id is not null
)

select
    rows_with_a_reference,
    dangling
from referring
where dangling > 0.01 * rows_with_a_reference
