-- question: Which items were picked short?
-- grain: one row per item of a packed shipment; units are pieces
-- source: marts.shipment_timeline, shipment_items
select
    timeline.shipment_id,
    items.sku,
    items.quantity - coalesce(items.qty_canceled, 0) as units_to_pick,
    items.qty_picked as units_picked,
    items.quantity - coalesce(items.qty_canceled, 0) - items.qty_picked as units_short
from marts.shipment_timeline as timeline
inner join main.shipment_items as items
    on timeline.shipment_id = items.shipment_id
where timeline.packed_at is not null and items.qty_picked < items.quantity - coalesce(items.qty_canceled, 0)
order by timeline.shipment_id, items.sku
