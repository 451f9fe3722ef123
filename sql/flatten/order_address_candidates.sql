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
        completed_order_address_candidate(included.candidate, stated.candidate) as candidate
    from stated
    left join included
        on stated._page = included._page and stated.candidate.id = included.candidate.id
)

select
    order_id,
    position,
    candidate.id,
    candidate.address_id,
    candidate.region_code,
    candidate.country_code,
    candidate.classification,
    _page
from resolved
