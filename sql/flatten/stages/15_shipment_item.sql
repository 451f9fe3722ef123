-- grain: one row per item of a shipment
-- completed: ShipmentItem
-- source: Shipment.items, merged with included.ShipmentItem if present
-- notes: the columns are the position and the fields of type shipment_item
with stated as (
    select
        _page,
        id as shipment_id,
        generate_subscripts(items, 1)::integer as position,
        unnest(items, max_depth := 2)
    from shipment
)

select *
from stated
