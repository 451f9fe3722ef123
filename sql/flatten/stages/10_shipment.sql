-- grain: one row per shipment of a page
-- kept: yes
-- source: collection of a page
-- notes: the columns are the fields of type shipment
with record as (
    select
        _page,
        object as shipment
    from page.collection
)

select
    _page,
    unnest(shipment)
from record
