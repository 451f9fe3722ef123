-- grain: one row per package of a shipment, with its part of the carrier's cost, its weights and its box
-- keys: shipment_id, package_position
-- source: packages, package_items, products, shipments
-- notes: join marts.shipments by shipment_id for its warehouse, merchant, carrier and days. The service sends one cost per shipment and no
--     currency; a shipment without a package has its cost only in marts.shipments. Weights are converted from lb, oz, g and kg; null in
--     other units. The weight of a package item is assumed to be that of one piece
create or replace view marts.packages as
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
    left join unit on lower(items.weight_unit) = unit.unit
    group by items.shipment_id, items.package_position
),

weighed as (
    select
        packages.*,
        packages.billable_weight_value * billable.kilograms as billable_kg,
        packages.dimensional_weight_value * dimensional.kilograms as dimensional_kg,
        item_weight.kilograms as item_kg
    from main.packages
    left join unit as billable on lower(packages.billable_weight_unit) = billable.unit
    left join unit as dimensional on lower(packages.dimensional_weight_unit) = dimensional.unit
    left join item_weight
        on packages.shipment_id = item_weight.shipment_id and packages.position = item_weight.package_position
),

totals as (
    select
        shipment_id,
        count(*) as packages,
        case when count(*) = count(billable_kg) and sum(billable_kg) > 0 then sum(billable_kg) end as billable_kg
    from weighed
    group by shipment_id
)

select
    weighed.shipment_id, -- The shipment; joins marts.shipments.shipment_id
    weighed.position as package_position, -- Position of the package in the shipment, from 1
    weighed.tracking_ref, -- Tracking number
    weighed.sscc, -- Serial Shipping Container Code (SSCC)
    shipments.carrier_shipping_cost * coalesce(weighed.billable_kg / totals.billable_kg, 1 / totals.packages) as cost, -- Amount charged by the carrier; no currency is sent. Null if the service sent none. For a package its part of the shipment's, by billed weight, or equal parts if a weight is missing
    case when weighed.billable_kg > 0 then cost end as cost_by_kg, -- Part of cost with a billed weight: sum(cost_by_kg) / sum(billed_kg) is the cost per kg. Null together with billed_kg
    case when cost_by_kg is not null then weighed.billable_kg end as billed_kg, -- Weight that the carrier bills, in kg; null together with cost_by_kg
    weighed.dimensional_kg, -- Weight computed from the dimensions, in kg
    weighed.item_kg, -- Weight of the items inside, in kg; null if an item has no weight or quantity
    case when weighed.billable_kg - weighed.item_kg is not null then greatest(weighed.billable_kg - weighed.item_kg, 0) end as excess_kg, -- Billed weight beyond that of the items, in kg; 0 if there is none, null if either weight is unknown
    cost * excess_kg / nullif(weighed.billable_kg, 0) as excess_cost, -- Part of cost for excess_kg
    weighed.total_void_percent as void_percent, -- Void space of the package, in percent
    weighed.container_id, -- The box; joins main.products.id
    box."name" as container_name, -- Name of the box
    weighed.container_style -- Style of the box
from weighed
inner join totals on weighed.shipment_id = totals.shipment_id
inner join main.shipments on weighed.shipment_id = shipments.id
left join main.products as box on weighed.container_id = box.id
