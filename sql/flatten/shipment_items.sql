-- grain: one row per shipment item
-- keys: shipment_id, id
-- source: Shipment.items, merged with included.ShipmentItem if present (spec 2.4)
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
    shipment_id,
    position,
    item.id,
    item."type",
    item.sku,
    item.product.id as product_id,
    item.product."type" as product_type,
    item.quantity,
    item.qty_shipped,
    item.qty_picked,
    item.qty_canceled,
    item.qty_cancel_requested,
    item.order_item.id as order_item_id,
    _page
from resolved
