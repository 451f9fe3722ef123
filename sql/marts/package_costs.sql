-- grain: one row per package of a shipment, with its part of the carrier's cost, its weights and its box; and one per shipment whose cost cannot be divided among packages
-- keys: shipment_id, package_position
-- source: packages, package_items, products, shipments, orders, warehouses, merchants, marts.shipment_timeline
-- notes: the service sends one cost per shipment and no currency. A package's part is by billable weight. If there is no package, or one of several
--     has no such weight, the whole cost is in a row without a package, so cost adds up to carrier_shipping_cost. Weights are converted from lb, oz, g and kg; null in other units. The weight of a package item is assumed to be that of one piece
create or replace view marts.package_costs as
with unit (unit, kilograms) as (
    values ('lb', 0.45359237::double), ('oz', 0.028349523125::double), ('g', 0.001::double), ('kg', 1::double)
),

item_weight as (
    select
        items.shipment_id,
        items.package_position,
        case
            when count(*) = count(items.weight_value * items.quantity * unit.kilograms)
                then sum(items.weight_value * items.quantity * unit.kilograms)
        end as kilograms
    from main.package_items as items
    left join unit
        on lower(items.weight_unit) = unit.unit
    group by items.shipment_id, items.package_position
),

weighed as (
    select
        packages.shipment_id,
        packages.position,
        packages.tracking_ref,
        packages.container_id,
        packages.container_style,
        packages.total_void_percent,
        packages.billable_weight_value * billable.kilograms as billable_kg,
        packages.dimensional_weight_value * dimensional.kilograms as dimensional_kg,
        item_weight.kilograms as item_kg
    from main.packages
    left join unit as billable
        on lower(packages.billable_weight_unit) = billable.unit
    left join unit as dimensional
        on lower(packages.dimensional_weight_unit) = dimensional.unit
    left join item_weight
        on packages.shipment_id = item_weight.shipment_id and packages.position = item_weight.package_position
),

totals as (
    select
        shipment_id,
        count(*) as packages,
        case when count(*) = count(billable_kg) then sum(billable_kg) end as billable_kg
    from weighed
    group by shipment_id
),

divided as (
    select
        weighed.*,
        totals.packages as packages_of_shipment,
        case
            when totals.packages = 1 then shipments.carrier_shipping_cost::double
            else shipments.carrier_shipping_cost * weighed.billable_kg / nullif(totals.billable_kg, 0)
        end as cost
    from weighed
    inner join totals
        on weighed.shipment_id = totals.shipment_id
    inner join main.shipments
        on weighed.shipment_id = shipments.id
),

undivided as (
    select
        shipments.id as shipment_id,
        coalesce(totals.packages, 0) as packages_of_shipment,
        shipments.carrier_shipping_cost::double as cost
    from main.shipments
    left join totals
        on shipments.id = totals.shipment_id
    where
        shipments.carrier_shipping_cost is not null
        and coalesce(totals.packages, 0) <> 1
        and coalesce(totals.billable_kg, 0) = 0
),

parts as (
    from divided
    union all by name
    from undivided
)

select
    parts.shipment_id, -- The shipment; joins shipments.id
    parts.position as package_position, -- The package; joins packages.position. Null for a cost that cannot be divided among packages
    parts.tracking_ref, -- Tracking number
    timeline.has_left, -- Whether the shipment left; voided shipments have costs too
    timeline.left_day, -- Local day on which the shipment left
    timeline.warehouse_id, -- The warehouse; joins warehouses.id
    warehouses."name" as warehouse_name, -- Name of the warehouse
    orders.merchant_id, -- The merchant; joins merchants.id
    merchants."name" as merchant_name, -- Name of the merchant
    shipments.shipping_carrier_code, -- Code of the carrier
    shipments.shipping_method, -- Code of the shipping method
    orders.ship_to_country, -- Country of the order's shipping address
    orders.ship_to_region, -- Region of the order's shipping address
    orders.ship_to_classification, -- Kind of place, such as residential or commercial
    shipments.is_international, -- Whether the shipment crosses a border
    parts.packages_of_shipment, -- Number of packages of the shipment
    parts.cost, -- Part of the shipment's carrier_shipping_cost; the parts of a shipment add up to it. Null if the shipment has no cost, or if the row without a package has it; the service sends no currency
    parts.billable_kg, -- Weight that the carrier bills, in kg
    parts.billable_kg / 0.45359237::double as billable_lb, -- Weight that the carrier bills, in lb
    parts.dimensional_kg, -- Weight computed from the dimensions, in kg
    parts.dimensional_kg / 0.45359237::double as dimensional_lb, -- Weight computed from the dimensions, in lb
    parts.item_kg, -- Weight of the items inside, in kg; null if an item has no weight or quantity
    parts.item_kg / 0.45359237::double as item_lb, -- Weight of the items inside, in lb
    case
        when parts.billable_kg > parts.item_kg then parts.billable_kg - parts.item_kg
        when parts.billable_kg <= parts.item_kg then 0
    end as excess_kg, -- Billed weight beyond that of the items, in kg; 0 if there is none, null if either weight is unknown
    case
        when parts.billable_kg > parts.item_kg then (parts.billable_kg - parts.item_kg) / 0.45359237::double
        when parts.billable_kg <= parts.item_kg then 0
    end as excess_lb, -- Billed weight beyond that of the items, in lb
    parts.total_void_percent as void_percent, -- Empty part of the package, in percent
    parts.container_id, -- The box; joins products.id
    box."name" as box_name, -- Name of the box
    parts.container_style -- Style of the box
from parts
inner join main.shipments
    on parts.shipment_id = shipments.id
inner join marts.shipment_timeline as timeline
    on parts.shipment_id = timeline.shipment_id
left join main.orders
    on shipments.order_id = orders.id
left join main.warehouses
    on shipments.warehouse_id = warehouses.id
left join main.merchants
    on orders.merchant_id = merchants.id
left join main.products as box
    on parts.container_id = box.id
