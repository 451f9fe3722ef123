-- grain: one row per address of an order
-- keys: order_id, role
-- needs: order
-- completed: OrderAddress
-- source: Order.shipping_address and Order.original_address, merged with included.OrderAddress if present (spec 2.5)
-- notes: an address with only country, region and classification has no row
with stated as (
    select
        _page,
        id as order_id,
        'shipping' as role,
        unnest(shipping_address)
    from "order"
    where shipping_address is not null
    union all
    select
        _page,
        id as order_id,
        'original' as role,
        unnest(original_address)
    from "order"
    where original_address is not null
)

select
    order_id,
    role,
    id,
    first_name,
    last_name,
    company,
    street,
    city,
    region,
    postcode,
    country,
    telephone,
    email,
    classification,
    is_valid,
    _page
from stated
where
    coalesce(first_name, last_name, company, city, postcode, telephone, email) is not null
    or street is not null
    or is_valid is not null
