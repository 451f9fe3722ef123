-- severity: warn
-- blocking: no
-- table: products
-- description: Every reference to a product has the same kind as the row of products with that id.
-- wrong: {count} [product is|products are] referred to as a kind that differs from the kind in products
-- named: {id} ({type}, referred to as {named_as})
-- notes: the six kinds share one key; if two kinds used the same id, one row would replace the other
with referring as (
    select
        product_id as id,
        product_type as "type"
    from shipment_items
    union
    select
        product_id,
        product_type
    from order_items
    union
    select
        product_id,
        product_type
    from package_packaging
    union
    select
        container_id,
        container_type
    from packages
    union
    select
        infill_id,
        infill_type
    from packages
)

select
    products.id,
    products."type",
    referring."type" as named_as
from referring
inner join products
    on referring.id = products.id
where products."type" <> referring."type"
