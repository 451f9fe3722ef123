-- grain: one row per shipment, with its order, retailer, warehouse and the totals of its items and packages
-- keys: shipment_id
-- source: marts.shipment_timeline, shipments, orders, warehouses, merchants, retailers, retailer_ship_to_locations, shipment_items, products, packages
-- notes: marts.shipment_timeline determines whether a shipment is open, when it left and how late; shipped_at is its left_at. Days are local days of
--     the warehouse. A shipment that the service no longer has is not open, but still counts as shipped if it left
create or replace view marts.shipment_overview as
with item_totals as (
    select
        shipment_id,
        count(*) as items,
        sum(quantity) as quantity,
        sum(qty_shipped) as qty_shipped
    from main.shipment_items
    group by shipment_id
),

goods as (
    select
        items.shipment_id,
        list(distinct products.goods_type order by products.goods_type) as goods_types
    from main.shipment_items as items
    inner join main.products
        on items.product_id = products.id
    where products.goods_type is not null
    group by items.shipment_id
),

package_totals as (
    select
        shipment_id,
        count(*) as packages,
        sum(billable_weight_value) as billable_weight_value,
        min(billable_weight_unit) filter (where billable_weight_value is not null) as billable_weight_unit,
        count(distinct coalesce(billable_weight_unit, '')) filter (where billable_weight_value is not null) as weight_units,
        list(tracking_ref order by position) filter (where tracking_ref is not null) as tracking_refs
    from main.packages
    group by shipment_id
),

shipment as (
    select
        shipments.*,
        timeline.timezone,
        timeline.is_open,
        timeline.is_live,
        timeline.left_at,
        timeline.left_at_source,
        timeline.left_day,
        timeline.verdict,
        timeline.was_due,
        timeline.days_after_target,
        orders.unique_id as order_unique_id,
        orders.order_ref,
        orders.state as order_state,
        orders.status as order_status,
        orders.created_at as order_created_at,
        orders.shipping_method as order_shipping_method,
        orders.ship_to_country,
        orders.ship_to_region,
        orders.ship_to_classification,
        orders.requested_ship_date,
        orders.merchant_id
    from main.shipments
    inner join marts.shipment_timeline as timeline
        on shipments.id = timeline.shipment_id
    left join main.orders
        on shipments.order_id = orders.id
)

select
    shipment.id as shipment_id, -- The shipment; joins shipments.id
    shipment.unique_id, -- Human-readable number of the shipment
    shipment.status, -- Status of the shipment, an open set
    shipment.is_open, -- Whether the shipment is still to leave: its status is known to be open, and the service has it
    shipment.is_live, -- Whether the shipment left, is open, or has an unknown status; false if it was canceled, voided or deleted
    shipment._missing_since as missing_since, -- When an audit proved that the service no longer has the shipment, or a page marked it as deleted (UTC); null while the service has it
    shipment.created_at, -- Time of creation (UTC)
    shipment.updated_at, -- Time of the last change (UTC)
    shipment.packed_at, -- Time of packing (UTC)
    shipment.left_at as shipped_at, -- When the shipment left (UTC); null if it did not leave or the time is unknown
    shipment.left_at_source as shipped_at_source, -- Source of shipped_at: order, packed or unknown; null if it did not leave
    shipment.left_day as shipped_day, -- Local day on which the shipment left
    shipment.timezone, -- Time zone of the local days; joins ops.timezones.timezone
    shipment.target_ship_date, -- Local day by which the shipment should leave
    shipment.verdict, -- on_time, late, open (has not left), none (no target day; or canceled, voided or deleted) or unknown (unknown status or time of leaving)
    shipment.was_due, -- Whether target_ship_date was over at data_until, by the local day
    shipment.days_after_target, -- Days from target_ship_date to the local day on which the shipment left, or to that of data_until while it is open; negative before the target day
    shipment.shipping_carrier_code, -- Code of the carrier
    shipment.shipping_method, -- Code of the shipping method
    shipment.order_shipping_method, -- Code of the shipping method requested by the order
    shipment.shipping_service_name, -- Name of the carrier's service
    shipment.is_international, -- Whether the shipment crosses a border
    shipment.carrier_shipping_cost, -- Amount charged by the carrier; the service sends no currency
    shipment.total_weight_value, -- Total weight, in total_weight_unit
    shipment.total_weight_unit, -- Unit of total_weight_value
    shipment.warehouse_id, -- The warehouse that the shipment leaves from; joins warehouses.id
    warehouses."name" as warehouse_name, -- Name of the warehouse
    shipment.order_id, -- The order that the shipment fulfills; joins orders.id
    shipment.order_unique_id, -- Human-readable number of the order
    shipment.order_ref, -- The merchant's own reference for the order
    shipment.order_state, -- State of the order, an open set
    shipment.order_status, -- Status of the order, an open set
    shipment.order_created_at, -- When the order was created (UTC)
    shipment.requested_ship_date, -- Ship date requested by the order
    shipment.merchant_id, -- The merchant of the order; joins merchants.id
    merchants."name" as merchant_name, -- Name of the merchant
    shipment.retailer_id, -- The retailer; joins retailers.id
    retailers.code as retailer_code, -- Code of the retailer
    retailers."name" as retailer_name, -- Name of the retailer
    shipment.ship_to_country, -- Country of the order's shipping address
    shipment.ship_to_region, -- Region of the order's shipping address
    shipment.ship_to_classification, -- Kind of place, such as residential or commercial
    shipment.retailer_ship_to_location_id, -- Ship-to location; joins retailer_ship_to_locations.id
    ship_to.code as ship_to_code, -- Code of the ship-to location
    ship_to.city as ship_to_city, -- City of the ship-to location
    ship_to.country_id as ship_to_country_id, -- Country of the ship-to location
    coalesce(item_totals.items, 0) as items, -- Number of shipment items
    item_totals.quantity, -- Quantity planned to leave, over all items, in pieces
    item_totals.qty_shipped, -- Quantity that left, over all items, in pieces
    goods.goods_types, -- Kinds of goods of the shipment's products, such as HAZMAT; ops.code_values has the meanings; null if no product has a kind
    coalesce(package_totals.packages, 0) as packages, -- Number of packages
    case when package_totals.weight_units = 1 then package_totals.billable_weight_value end as billable_weight_value, -- Weight that the carrier bills, over all packages, in billable_weight_unit; null if the packages have different units: marts.package_costs converts them
    case when package_totals.weight_units = 1 then package_totals.billable_weight_unit end as billable_weight_unit, -- Unit of billable_weight_value
    package_totals.tracking_refs -- Tracking numbers of the packages
from shipment
left join main.warehouses
    on shipment.warehouse_id = warehouses.id
left join main.merchants
    on shipment.merchant_id = merchants.id
left join main.retailers
    on shipment.retailer_id = retailers.id
left join main.retailer_ship_to_locations as ship_to
    on shipment.retailer_ship_to_location_id = ship_to.id
left join goods
    on shipment.id = goods.shipment_id
left join item_totals
    on shipment.id = item_totals.shipment_id
left join package_totals
    on shipment.id = package_totals.shipment_id
