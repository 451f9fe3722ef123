-- severity: warn
-- blocking: no
-- table: products
-- description: What refers to a product names it as the kind that it is in products.
-- notes: the six kinds have one key; were an id given to two of them, one row would have taken the place of the other
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
