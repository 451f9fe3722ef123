-- grain: one row per window and requested kind of object that its pages refer to
-- keys: window_id, kind
-- source: the load step
-- notes: a few dangling references are normal; a kind that hardly ever comes means that the service ignores field selection
create table ops.included_kinds (
    window_id varchar not null, -- Window; joins ops.windows.id.
    kind varchar not null, -- Kind of object referred to, such as Order.
    parameter varchar not null, -- Field selection parameter that requests the kind.
    referring bigint not null, -- Number of rows of the window that refer to an object of the kind.
    referring_in_vain bigint not null, -- Number of those rows whose object did not come with the window.
    objects bigint not null, -- Number of distinct objects referred to.
    missing bigint not null -- Number of those objects that did not come with the window.
)
