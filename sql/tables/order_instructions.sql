-- grain: one row an instruction of an order
-- keys: order_id, position
-- root: orders by order_id
-- newer: _extracted_at
-- source: Order.instructions, with included.OrderInstruction where it is there (spec 2.5, 4.5)
create table order_instructions (
    order_id bigint, -- The order; joins orders.id. Source: Order.id
    position integer, -- Place of the instruction in the order, from 1. Source: order of Order.instructions
    id bigint, -- The instruction. Source: OrderInstruction.id
    note varchar, -- Text of the instruction. Source: OrderInstruction.note
    file_name varchar, -- Name of its file. Source: OrderInstruction.file_name
    presentation varchar, -- When it is shown. Source: OrderInstruction.presentation
    print_target varchar, -- Where it is printed. Source: OrderInstruction.print_target
    print_orientation varchar, -- How it is printed. Source: OrderInstruction.print_orientation
    copies_printed decimal(18, 4), -- Number of copies printed. Source: OrderInstruction.copies_printed
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
