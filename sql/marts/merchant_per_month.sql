-- grain: one row per merchant and local month in which shipments of the merchant left, for the billing of a 3PL
-- keys: merchant_id, month
-- source: marts.shipment_timeline, shipments, shipment_items, packages, orders, merchants
-- notes: by the local month in which a shipment left; excludes voided shipments. An order whose shipments left in two months counts in both
create or replace view marts.merchant_per_month as
with item_totals as (
    select
        shipment_id,
        count(*) as lines,
        sum(qty_shipped) as units,
        count(*) filter (where qty_shipped is null) as lines_without_quantity
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
        orders.merchant_id,
        date_trunc('month', timeline.left_day)::date as month,
        count(distinct timeline.order_id) as orders,
        count(*) as shipments,
        sum(coalesce(package_totals.packages, 0))::bigint as packages,
        sum(coalesce(item_totals.lines, 0))::bigint as lines,
        sum(item_totals.units) as units,
        sum(coalesce(item_totals.lines_without_quantity, 0))::bigint as lines_without_quantity,
        sum(shipments.carrier_shipping_cost) as carrier_shipping_cost,
        count(*) filter (where shipments.carrier_shipping_cost is null) as shipments_without_cost
    from marts.shipment_timeline as timeline
    inner join main.shipments
        on timeline.shipment_id = shipments.id
    left join main.orders
        on timeline.order_id = orders.id
    left join item_totals
        on timeline.shipment_id = item_totals.shipment_id
    left join package_totals
        on timeline.shipment_id = package_totals.shipment_id
    where timeline.left_day is not null
    group by orders.merchant_id, date_trunc('month', timeline.left_day)::date
)

select
    counted.merchant_id, -- The merchant; joins merchants.id
    merchants.code as merchant_code, -- Code of the merchant
    merchants."name" as merchant_name, -- Name of the merchant
    counted.month, -- First day of the local month in which the shipments left
    counted.orders, -- Number of orders with a shipment that left
    counted.shipments, -- Number of shipments that left
    counted.packages, -- Number of packages that left
    counted.lines, -- Number of shipment items that left
    counted.units, -- Quantity that left, in pieces; null if no item has a quantity
    counted.lines_without_quantity, -- Number of lines without a quantity; units excludes them
    counted.carrier_shipping_cost, -- Amount charged by the carriers; the service sends no currency
    counted.shipments_without_cost -- Number of shipments without a cost; carrier_shipping_cost excludes them
from counted
left join main.merchants
    on counted.merchant_id = merchants.id
