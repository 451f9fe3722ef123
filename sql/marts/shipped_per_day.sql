-- grain: one row per day, carrier and warehouse with at least one shipment that left
-- keys: day, shipping_carrier_code, warehouse_id
-- source: marts.shipment_overview
-- notes: includes shipments that left and that the service no longer has, but not those that left at an unknown time. For rates of due
--     shipments, use marts.due_per_day
create or replace view marts.shipped_per_day as
select
    shipped_day as day, -- Local day on which the shipments left
    shipping_carrier_code, -- Code of the carrier
    warehouse_id, -- The warehouse; joins warehouses.id
    min(warehouse_name) as warehouse_name, -- Name of the warehouse
    count(*) as shipments, -- Number of shipments that left
    sum(packages)::bigint as packages, -- Number of packages that left
    sum(qty_shipped) as quantity, -- Quantity that left, in pieces; excludes items without a quantity; null if no item has a quantity
    sum(carrier_shipping_cost) as carrier_shipping_cost, -- Amount charged by the carrier; the service sends no currency
    count(*) filter (where days_after_target > 0) as shipments_late -- Number of shipments that left after their target day; shipments without a target day are not late
from marts.shipment_overview
where shipped_day is not null
group by shipped_day, shipping_carrier_code, warehouse_id
