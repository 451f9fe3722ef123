-- grain: one row per window and name of field selection whose data the window omits
-- keys: window_id, name
-- source: the state store, and the load step
-- notes: the window does not update this data: stored columns keep their values, and child rows stay
create table ops.omitted (
    window_id varchar not null, -- Window; joins ops.windows.id.
    name varchar not null, -- Parameter, such as fields:order.brand.
    reason varchar not null, -- refused (by the service), or not sent (although requested).
    data varchar not null, -- What the window does not update, such as the rows of brands.
    said varchar, -- Error message with which the service refused it; null for other reasons.
    referring bigint, -- Number of rows of the window that refer to objects that were not sent; null if there are none.
    stayed bigint -- Number of rows that stayed from earlier windows because no object of the window has this list; null if there are none.
)
