-- grain: one row per address proposed for an order
-- keys: order_id, position
-- source: Order.address_candidates, merged with included.OrderAddressCandidate if present (spec 2.5, 4.5)
with stated as (
    select
        _page,
        id as order_id,
        unnest(address_candidates) as candidate,
        generate_subscripts(address_candidates, 1)::integer as position
    from "order"
),

included as (
    select
        _page,
        object as candidate
    from page."OrderAddressCandidate"
),

resolved as (
    select
        stated._page,
        stated.order_id,
        stated.position,
        coalesce(included.candidate.street, stated.candidate.street) as street,
        coalesce(included.candidate.city, stated.candidate.city) as city,
        coalesce(included.candidate.postal_code, stated.candidate.postal_code) as postal_code
    from stated
    left join included
        on stated._page = included._page and stated.candidate.id = included.candidate.id
)

select
    order_id,
    position,
    street,
    city,
    postal_code,
    _page
from resolved
where coalesce(street, city, postal_code) is not null
