-- grain: one row an order of a page
-- source: included.Order
-- notes: the columns are the fields of the type order
with record as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest("Order") as record
    from page
)

select
    _window_id,
    _page,
    _extracted_at,
    unnest(record)
from record
