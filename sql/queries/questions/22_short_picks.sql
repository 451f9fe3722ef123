-- question: Which items were picked short?
-- grain: one row per item of a packed shipment; units are pieces
select
    shipment_id,
    sku,
    units,
    units_picked,
    units_picked_short
from marts.shipment_lines
where units_picked_short > 0
order by shipment_id, sku
