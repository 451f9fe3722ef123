-- grain: one row per warehouse, local day and local hour with a packed shipment
-- keys: warehouse_id, day, hour
-- source: marts.shipment_timeline, shipment_items, packages, warehouses
-- notes: counts packed shipments, including those voided afterwards. The hour that occurs twice when summer time ends is one row
create or replace view marts.packed_per_hour as
with item_totals as (
    select
        shipment_id,
        sum(quantity) as units
    from main.shipment_items
    group by shipment_id
),

package_totals as (
    select
        shipment_id,
        count(*) as packages
    from main.packages
    group by shipment_id
),

counted as (
    select
        timeline.warehouse_id,
        timeline.packed_day as day,
        hour(timeline.packed_local) as hour,
        count(*) as shipments,
        sum(coalesce(package_totals.packages, 0))::bigint as packages,
        sum(item_totals.units) as units
    from marts.shipment_timeline as timeline
    left join item_totals
        on timeline.shipment_id = item_totals.shipment_id
    left join package_totals
        on timeline.shipment_id = package_totals.shipment_id
    where timeline.packed_at is not null
    group by timeline.warehouse_id, timeline.packed_day, hour(timeline.packed_local)
)

select
    counted.warehouse_id, -- The warehouse; joins warehouses.id
    warehouses."name" as warehouse_name, -- Name of the warehouse
    counted.day, -- Local day of packing
    counted.hour, -- Local hour of packing, 0 to 23
    counted.shipments, -- Number of shipments packed in the hour
    counted.packages, -- Number of packages of these shipments
    counted.units -- Quantity of these shipments, in pieces; null if no item has a quantity
from counted
left join main.warehouses
    on counted.warehouse_id = warehouses.id
