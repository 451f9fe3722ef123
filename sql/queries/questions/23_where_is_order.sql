-- question: Where is order X, and what are its tracking numbers?
-- grain: one row per shipment of the order; order_ref is the merchant's reference
-- source: marts.shipment_overview
select
    order_ref,
    unique_id,
    status,
    verdict,
    shipped_day,
    tracking_refs
from marts.shipment_overview
where order_ref = $order_ref
order by shipment_id
