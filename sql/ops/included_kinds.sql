-- grain: one row a window and kind of object that was asked for and is referred to on its pages
-- keys: window_id, kind
-- source: the load step
-- notes: a single dangling reference is normal; a kind that hardly ever comes means that field selection is ignored
create table ops.included_kinds (
    window_id varchar not null, -- Window; joins windows.id.
    kind varchar not null, -- What is referred to, as Order.
    parameter varchar not null, -- The name of field selection that asks for it.
    referring bigint not null, -- Rows of the window that refer to one.
    referring_in_vain bigint not null, -- Those of them whose object did not come with the window.
    objects bigint not null, -- Different objects that are referred to.
    missing bigint not null -- Those of them that did not come with the window.
)
