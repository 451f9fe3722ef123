-- question: How many shipments were canceled or voided, and how many of them after packing?
-- grain: one row per status canceled or voided
select
    shipment_status,
    count(*) as shipments,
    count(packed_at) as after_packing
from marts.shipments
where shipment_status in ('canceled', 'voided')
group by shipment_status
order by shipment_status
