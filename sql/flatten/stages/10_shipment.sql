-- grain: one row a shipment of a page
-- source: collection of a page
-- notes: the columns are the fields of the type shipment
with record as (
    select
        _window_id,
        _page,
        _extracted_at,
        unnest(collection) as shipment
    from page
)

select
    _window_id,
    _page,
    _extracted_at,
    unnest(shipment)
from record
