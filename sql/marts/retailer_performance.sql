-- grain: one row per retailer, with the volume and lateness of its shipments
-- keys: retailer_id
-- source: main.retailers, marts.shipment_overview
-- notes: late means that a shipment left, or is still open, after its target day. Rates are shares of shipments due by data_until: left on time, left late, or open past the
--     target day; shipments without a target day or with an unknown status are in no rate. Shipments that were canceled or voided, or deleted before they left, are not counted.
--     Retailers without shipments are included
create or replace view marts.retailer_performance as
with totals as (
    select
        retailer_id,
        count(*) filter (where is_live) as shipments,
        count(*) filter (where is_open) as shipments_open,
        count(*) filter (where shipped_at_source is not null) as shipments_shipped,
        count(*) filter (where verdict = 'on_time') as shipped_on_time,
        count(*) filter (where verdict = 'late') as shipped_late,
        count(*) filter (where was_due and verdict = 'on_time') as due_on_time,
        count(*) filter (where was_due and verdict in ('on_time', 'late', 'open')) as due,
        count(*) filter (where is_open and days_after_target > 0) as open_late,
        avg(days_after_target) filter (where verdict = 'late') as average_days_late,
        (sum(packages) filter (where is_live))::bigint as packages,
        sum(quantity) filter (where is_live) as quantity,
        max(shipped_at) as last_shipped_at
    from marts.shipment_overview
    where retailer_id is not null
    group by retailer_id
)

select
    coalesce(retailers.id, totals.retailer_id) as retailer_id, -- The retailer; joins retailers.id
    retailers.code as retailer_code, -- Code of the retailer; null if the service did not send the retailer
    retailers."name" as retailer_name, -- Name of the retailer
    retailers.status as retailer_status, -- active or archived
    coalesce(totals.shipments, 0) as shipments, -- Number of shipments that left, are open, or have an unknown status
    coalesce(totals.shipments_open, 0) as shipments_open, -- Number of shipments that are open: still to leave
    coalesce(totals.shipments_shipped, 0) as shipments_shipped, -- Number of shipments that left
    coalesce(totals.shipped_late, 0) as shipped_late, -- Number of shipments that left after their target day
    coalesce(totals.shipped_on_time, 0) as shipped_on_time, -- Number of shipments that left on their target day or before
    totals.shipped_late / nullif(totals.shipped_on_time + totals.shipped_late, 0) as share_shipped_late, -- shipped_late divided by shipped_on_time and shipped_late, 0 to 1; null if no shipment with a target day left
    coalesce(totals.due, 0) as due, -- Number of shipments whose target day was over at data_until and that left or are open
    totals.due_on_time / nullif(totals.due, 0) as share_on_time, -- Part of due that left on its target day or before, 0 to 1; null if no shipment was due
    totals.average_days_late, -- Average delay in days of the shipments that left late
    coalesce(totals.open_late, 0) as open_late, -- Number of open shipments whose target day has passed
    totals.packages, -- Number of packages of these shipments
    totals.quantity, -- Quantity planned to leave with these shipments, in pieces
    totals.last_shipped_at -- When a shipment of the retailer last left (UTC)
from main.retailers
full join totals
    on retailers.id = totals.retailer_id
