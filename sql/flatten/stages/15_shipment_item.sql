-- grain: one row per item of a shipment
-- kept: yes
-- source: Shipment.items, merged with included.ShipmentItem if present
-- notes: the columns are the position and the fields of type shipment_item
with stated as (
    select
        _page,
        id as shipment_id,
        unnest(items) as item,
        generate_subscripts(items, 1)::integer as position
    from shipment
),

included as (
    select
        _page,
        object as item
    from page."ShipmentItem"
),

resolved as (
    select
        stated._page,
        stated.shipment_id,
        stated.position,
        completed_shipment_item(included.item, stated.item) as item
    from stated
    left join included
        on stated._page = included._page and stated.item.id = included.item.id
)

select
    _page,
    shipment_id,
    position,
    unnest(item)
from resolved
