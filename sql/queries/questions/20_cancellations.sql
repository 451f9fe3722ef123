-- question: How many shipments were canceled or voided, and how many of them after packing?
-- grain: one row per status canceled or voided
-- source: marts.shipment_timeline
select
    lower(status) as status,
    count(*) as shipments,
    count(packed_at) as after_packing
from marts.shipment_timeline
where lower(status) in ('canceled', 'voided')
group by lower(status)
order by status
