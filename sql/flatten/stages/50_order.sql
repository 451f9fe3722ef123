-- grain: one row per order of a page
-- kept: yes
-- source: included.Order
-- notes: the columns are the fields of type order
with record as (
    select
        _page,
        object as record
    from page."Order"
)

select
    _page,
    unnest(record)
from record
