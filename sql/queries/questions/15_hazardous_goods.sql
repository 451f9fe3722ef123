-- question: Which shipments hold hazardous goods?
-- grain: one row per shipment with a product that is not of the kind NORMAL
select
    shipment_id,
    shipment_status,
    goods_types
from marts.shipments
where goods_types <> 'NORMAL'
order by shipment_id
