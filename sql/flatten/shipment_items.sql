-- grain: one row per shipment item
-- keys: shipment_id, id
-- needs: shipment_item
-- source: Shipment.items, merged with included.ShipmentItem if present (spec 2.4)
select
    shipment_id,
    position,
    id,
    "type",
    sku,
    product.id as product_id,
    product."type" as product_type,
    quantity,
    qty_shipped,
    qty_picked,
    qty_canceled,
    qty_cancel_requested,
    order_item.id as order_item_id,
    _page
from shipment_item
