-- grain: one row a day, carrier and warehouse on which something was shipped
-- keys: day, shipping_carrier_code, warehouse_id
-- source: marts.shipment_overview
-- notes: what left counts, also when the service has it no longer
create or replace view marts.shipped_per_day as
select
    (shipped_at at time zone 'UTC')::date as day, -- Day on which the shipments left (UTC)
    shipping_carrier_code, -- Code of the carrier
    warehouse_id, -- The warehouse; joins warehouses.id
    min(warehouse_name) as warehouse_name, -- Name of the warehouse
    count(*) as shipments, -- Shipments that left
    sum(packages)::bigint as packages, -- Packages that left
    sum(quantity) as quantity, -- Quantity that left, in pieces
    sum(carrier_shipping_cost) as carrier_shipping_cost, -- What the carrier charges; the service names no currency
    count(*) filter (where days_after_target > 0) as shipments_late -- Shipments that left after their target day
from marts.shipment_overview
where shipped_at is not null
group by (shipped_at at time zone 'UTC')::date, shipping_carrier_code, warehouse_id
