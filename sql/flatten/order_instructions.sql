-- grain: one row per instruction of an order
-- keys: order_id, position
-- needs: order
-- completed: OrderInstruction
-- source: Order.instructions, merged with included.OrderInstruction if present (spec 2.5, 4.5)
with stated as (
    select
        _page,
        id as parent_id,
        generate_subscripts(instructions, 1)::integer as position,
        unnest(instructions, max_depth := 2)
    from "order"
)

select
    parent_id as order_id,
    position,
    id,
    note,
    file_name,
    presentation,
    print_target,
    print_orientation,
    copies_printed,
    _page
from stated
