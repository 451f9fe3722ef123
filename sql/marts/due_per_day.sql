-- grain: one row per local day, warehouse, merchant and carrier with a shipment promised for that day
-- keys: day, warehouse_id, merchant_id, shipping_carrier_code
-- source: marts.shipment_timeline, shipments, orders, warehouses, merchants
-- notes: rates are shares of due shipments, not of shipments that left. Shipments without a target day are in no row. Keys may be null
create or replace view marts.due_per_day as
with promised as (
    select
        timeline.target_ship_date as day,
        timeline.warehouse_id,
        orders.merchant_id,
        shipments.shipping_carrier_code,
        timeline.was_due,
        timeline.verdict,
        timeline.missing_since is not null as is_deleted
    from marts.shipment_timeline as timeline
    inner join main.shipments
        on timeline.shipment_id = shipments.id
    left join main.orders
        on timeline.order_id = orders.id
    where timeline.target_ship_date is not null
),

counted as (
    select
        day,
        warehouse_id,
        merchant_id,
        shipping_carrier_code,
        bool_and(was_due) as is_over,
        count(*) as shipments,
        count(*) filter (where verdict in ('on_time', 'late', 'open')) as due,
        count(*) filter (where verdict = 'on_time') as on_time,
        count(*) filter (where verdict = 'late') as late,
        count(*) filter (where verdict = 'open') as still_open,
        count(*) filter (where verdict = 'none' and not is_deleted) as canceled,
        count(*) filter (where verdict = 'none' and is_deleted) as deleted,
        count(*) filter (where verdict = 'unknown') as unknown
    from promised
    group by day, warehouse_id, merchant_id, shipping_carrier_code
)

select
    counted.day, -- Local day by which the shipments should leave: their target_ship_date
    counted.warehouse_id, -- The warehouse; joins warehouses.id
    warehouses."name" as warehouse_name, -- Name of the warehouse
    counted.merchant_id, -- The merchant; joins merchants.id
    merchants."name" as merchant_name, -- Name of the merchant
    counted.shipping_carrier_code, -- Code of the carrier
    counted.is_over, -- Whether the day was over at data_until, in the warehouse
    counted.shipments, -- Number of shipments promised for the day: the sum of due, canceled, deleted and unknown
    counted.due, -- Number of shipments that were to leave: the sum of on_time, late and still_open
    counted.on_time, -- Number of shipments that left on the day or before
    counted.late, -- Number of shipments that left after the day
    counted.still_open, -- Number of shipments that have not left; if is_over, these are late too
    counted.canceled, -- Number of shipments that were canceled or voided
    counted.deleted, -- Number of shipments that did not leave and that the service no longer has
    counted.unknown, -- Number of shipments with an unknown status, or that left at an unknown time
    case when counted.is_over then counted.on_time / nullif(counted.due, 0) end as share_on_time -- on_time divided by due, 0 to 1; null until the day is over, or if nothing was due
from counted
left join main.warehouses
    on counted.warehouse_id = warehouses.id
left join main.merchants
    on counted.merchant_id = merchants.id
