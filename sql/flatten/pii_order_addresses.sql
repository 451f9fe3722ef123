-- grain: one row per address of an order
-- keys: order_id, role
-- source: Order.shipping_address and Order.original_address, merged with included.OrderAddress if present (spec 2.5)
-- notes: an address of which nothing but country, region and classification is known has no row
with stated as (
    select
        _page,
        id as order_id,
        'shipping' as role,
        shipping_address as address
    from "order"
    where shipping_address is not null
    union all
    select
        _page,
        id as order_id,
        'original' as role,
        original_address as address
    from "order"
    where original_address is not null
),

included as (
    select
        _page,
        object as address
    from page."OrderAddress"
),

resolved as (
    select
        stated._page,
        stated.order_id,
        stated.role,
        completed_order_address(included.address, stated.address) as address
    from stated
    left join included
        on stated._page = included._page and stated.address.id = included.address.id
)

select
    order_id,
    role,
    address.id,
    address.first_name,
    address.last_name,
    address.company,
    address.street,
    address.city,
    address.region,
    address.postcode,
    address.country,
    address.telephone,
    address.email,
    address.classification,
    address.is_valid,
    _page
from resolved
where
    address is distinct from {
        'type': address."type",
        'id': address.id,
        'region': address.region,
        'country': address.country,
        'classification': address.classification
    }::order_address
