-- severity: warn
-- blocking: no
-- table: shipment_items
-- description: No shipment item has a negative quantity.
-- wrong: {count} shipment [item has|items have] a negative quantity
-- named: {id} of shipment {shipment_id}
select
    shipment_id,
    id,
    quantity,
    qty_shipped,
    qty_picked,
    qty_canceled
from shipment_items
where least(quantity, qty_shipped, qty_picked, qty_canceled) < 0
