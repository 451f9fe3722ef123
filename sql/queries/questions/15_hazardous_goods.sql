-- question: Which shipments hold hazardous goods?
-- grain: one row per shipment with a product that is not of the kind NORMAL
-- source: marts.shipment_overview
select
    shipment_id,
    status,
    goods_types
from marts.shipment_overview
where len(goods_types) > 1 or (len(goods_types) = 1 and goods_types[1] <> 'NORMAL')
order by shipment_id
