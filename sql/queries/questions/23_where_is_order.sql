-- question: Where is order X, and what are its tracking numbers?
-- grain: one row per shipment of the order; order_ref is the merchant's reference
select
    order_ref,
    shipment_unique_id,
    shipment_status,
    is_on_time,
    shipped_day,
    tracking_refs
from marts.shipments
where order_ref = $order_ref
order by shipment_id
