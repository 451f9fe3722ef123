-- grain: one row per retailer, with the volume and lateness of its shipments
-- keys: retailer_id
-- source: main.retailers, marts.shipment_overview
-- notes: late means that a shipment left, or is still open, after its target day (UTC). Retailers without shipments are included.
--     A shipment that the service no longer has still counts as a shipment, and as shipped if it left, but not as open
create or replace view marts.retailer_performance as
with totals as (
    select
        retailer_id,
        count(*) as shipments,
        count(*) filter (where is_open) as shipments_open,
        count(*) filter (where shipped_at is not null) as shipments_shipped,
        count(*) filter (where shipped_at is not null and days_after_target > 0) as shipped_late,
        count(*) filter (where is_open and days_after_target > 0) as open_late,
        avg(days_after_target) filter (where shipped_at is not null and days_after_target > 0) as average_days_late,
        sum(packages)::bigint as packages,
        sum(quantity) as quantity,
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
    coalesce(totals.shipments, 0) as shipments, -- Number of shipments
    coalesce(totals.shipments_open, 0) as shipments_open, -- Number of shipments that are open: not shipped, canceled, voided or missing from the service
    coalesce(totals.shipments_shipped, 0) as shipments_shipped, -- Number of shipments that left
    coalesce(totals.shipped_late, 0) as shipped_late, -- Number of shipments that left after their target day
    totals.shipped_late / nullif(totals.shipments_shipped, 0) as share_shipped_late, -- shipped_late divided by shipments_shipped, 0 to 1
    totals.average_days_late, -- Average delay in days of the shipments that left late
    coalesce(totals.open_late, 0) as open_late, -- Number of open shipments whose target day has passed
    totals.packages, -- Number of packages
    totals.quantity, -- Quantity over all items, in pieces
    totals.last_shipped_at -- When a shipment of the retailer last left (UTC)
from main.retailers
full join totals
    on retailers.id = totals.retailer_id
