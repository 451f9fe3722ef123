-- grain: one row per address proposed for an order
-- keys: order_id, position
-- needs: order
-- completed: OrderAddressCandidate
-- source: Order.address_candidates, merged with included.OrderAddressCandidate if present (spec 2.5, 4.5)
with stated as (
    select
        _page,
        id as order_id,
        generate_subscripts(address_candidates, 1)::integer as position,
        unnest(address_candidates, max_depth := 2)
    from "order"
)

select
    order_id,
    position,
    id,
    address_id,
    region_code,
    country_code,
    classification,
    _page
from stated
