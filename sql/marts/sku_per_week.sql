-- grain: one row per merchant, sku and local week in which pieces of the sku left, or in which an order that waits for stock was created
-- keys: merchant_id, sku, week
-- source: marts.shipment_timeline, shipment_items, orders, order_items, merchants, ops.code_values
-- notes: lines, orders, units and units_short count shipments that left in the week. units_backordered counts pieces that wait for stock now, by the week in which the order was
--     created, in the zone of its first shipment's warehouse; it excludes orders whose state or status is known to be closed. Products of a merchant with the same sku are one row
create or replace view marts.sku_per_week as
with left_items as (
    select
        orders.merchant_id,
        items.sku,
        date_trunc('week', timeline.left_day)::date as week,
        timeline.order_id,
        items.qty_shipped,
        case
            when items.quantity is null or items.qty_shipped is null then null
            else greatest(items.quantity - coalesce(items.qty_canceled, 0) - items.qty_shipped, 0)
        end as short
    from marts.shipment_timeline as timeline
    inner join main.shipment_items as items
        on timeline.shipment_id = items.shipment_id
    left join main.orders
        on timeline.order_id = orders.id
    where timeline.left_day is not null
),

order_days as (
    select
        order_id,
        arg_min(order_created_day, shipment_id) as day
    from marts.shipment_timeline
    group by order_id
),

counted as (
    select
        merchant_id,
        sku,
        week,
        count(*) as lines,
        count(distinct order_id) as orders,
        sum(qty_shipped) as units,
        sum(short) as units_short,
        null::decimal(38, 4) as units_backordered
    from left_items
    group by merchant_id, sku, week
    union all
    select
        orders.merchant_id,
        items.sku,
        date_trunc('week', order_days.day)::date as week,
        0 as lines,
        0 as orders,
        null as units,
        null as units_short,
        sum(items.qty_backordered) as units_backordered
    from main.order_items as items
    inner join main.orders
        on items.order_id = orders.id
    inner join order_days
        on items.order_id = order_days.order_id
    left join ops.code_values as state
        on state.column_name = 'orders.state' and state."value" = lower(orders.state) and state.is_known
    left join ops.code_values as status
        on status.column_name = 'orders.status' and status."value" = lower(orders.status) and status.is_known
    where items.qty_backordered > 0 and coalesce(state.is_open, true) and coalesce(status.is_open, true)
    group by orders.merchant_id, items.sku, date_trunc('week', order_days.day)::date
),

summed as (
    select
        merchant_id,
        sku,
        week,
        sum(lines)::bigint as lines,
        sum(orders)::bigint as orders,
        sum(units)::decimal(38, 4) as units,
        sum(units_short)::decimal(38, 4) as units_short,
        coalesce(sum(units_backordered), 0)::decimal(38, 4) as units_backordered
    from counted
    group by merchant_id, sku, week
)

select
    summed.merchant_id, -- The merchant; joins merchants.id
    merchants."name" as merchant_name, -- Name of the merchant
    summed.sku, -- Stock keeping unit
    summed.week, -- Monday of the local week; null if an order has no time of creation
    summed.lines, -- Number of shipment items that left in the week
    summed.orders, -- Number of orders with an item that left in the week
    summed.units, -- Quantity that left in the week, in pieces; null if no item has a quantity
    summed.units_short, -- Quantity that should have left with these items, was not canceled and did not leave, in pieces; null if no item has the quantities
    summed.units_backordered -- Quantity of orders created in the week that waits for stock now, in pieces; excludes complete and canceled orders
from summed
left join main.merchants
    on summed.merchant_id = merchants.id
