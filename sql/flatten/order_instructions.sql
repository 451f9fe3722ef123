-- grain: one row per instruction of an order
-- keys: order_id, position
-- source: Order.instructions, merged with included.OrderInstruction if present (spec 2.5, 4.5)
with stated as (
    select
        _page,
        id as order_id,
        unnest(instructions) as instruction,
        generate_subscripts(instructions, 1)::integer as position
    from "order"
),

included as (
    select
        _page,
        object as instruction
    from page."OrderInstruction"
),

resolved as (
    select
        stated._page,
        stated.order_id,
        stated.position,
        completed_order_instruction(included.instruction, stated.instruction) as instruction
    from stated
    left join included
        on stated._page = included._page and stated.instruction.id = included.instruction.id
)

select
    order_id,
    position,
    instruction.id,
    instruction.note,
    instruction.file_name,
    instruction.presentation,
    instruction.print_target,
    instruction.print_orientation,
    instruction.copies_printed,
    _page
from resolved
