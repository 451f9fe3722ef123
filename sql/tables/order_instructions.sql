-- grain: one row per instruction of an order
-- keys: order_id, position
-- same: id
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.instructions, merged with included.OrderInstruction if present (spec 2.5, 4.5)
create table order_instructions (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    position integer, -- Position of the instruction in the order, from 1. Source: order of Order.instructions
    id bigint, -- The instruction. Source: OrderInstruction.id
    note varchar, -- Text of the instruction. Source: OrderInstruction.note
    file_name varchar, -- Name of the attached file. Source: OrderInstruction.file_name
    presentation varchar, -- When the instruction is shown. Source: OrderInstruction.presentation
    print_target varchar, -- Where the instruction is printed. Source: OrderInstruction.print_target
    print_orientation varchar, -- Page orientation of the print. Source: OrderInstruction.print_orientation
    copies_printed decimal(18, 4), -- Number of copies printed. Source: OrderInstruction.copies_printed
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
