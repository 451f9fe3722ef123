-- grain: one row per shipment with a retailer
-- keys: shipment_id
-- source: marts.shipment_timeline, shipments, retailers, orders, packages
-- notes: null means unknown
create or replace view marts.retailer_compliance as
with labels as (
    select
        shipment_id,
        count(*) as packages,
        count(*) filter (where coalesce(sscc, '') = '') as packages_without_sscc
    from main.packages
    group by shipment_id
),

judged as (
    select
        timeline.*,
        shipments.unique_id,
        shipments.retailer_id,
        shipments.shipping_carrier_code,
        shipments.shipping_method,
        shipments.is_documents_required,
        shipments.is_electronic_customs,
        retailers.code as retailer_code,
        retailers."name" as retailer_name,
        orders.merchant_id,
        orders.shipping_method as order_shipping_method,
        orders.order_ref,
        coalesce(labels.packages, 0) as packages,
        coalesce(labels.packages_without_sscc, 0) as packages_without_sscc,
        len(orders.generate_sscc) > 0 as is_sscc_required,
        case
            when len(retailers.allowed_shipping_methods) > 0
                then list_contains(retailers.allowed_shipping_methods, shipments.shipping_method)
        end as is_method_allowed
    from marts.shipment_timeline as timeline
    inner join main.shipments
        on timeline.shipment_id = shipments.id
    left join main.retailers
        on shipments.retailer_id = retailers.id
    left join main.orders
        on timeline.order_id = orders.id
    left join labels
        on timeline.shipment_id = labels.shipment_id
    where shipments.retailer_id is not null
)

select
    shipment_id, -- The shipment; joins shipments.id
    unique_id, -- Human-readable number of the shipment
    order_id, -- The order; joins orders.id
    order_ref, -- The merchant's own reference for the order
    merchant_id, -- The merchant; joins merchants.id
    retailer_id, -- The retailer; joins retailers.id
    retailer_code, -- Code of the retailer; null if the service did not send the retailer
    retailer_name, -- Name of the retailer
    warehouse_id, -- The warehouse; joins warehouses.id
    status, -- Status of the shipment
    is_live, -- Whether the shipment left, is open, or has an unknown status; false if it was canceled, voided or deleted
    target_ship_date, -- Local day by which the shipment should leave
    left_day, -- Local day on which the shipment left
    verdict, -- on_time, late, open, none or unknown, as in marts.shipment_timeline
    case
        when verdict = 'late' or (verdict = 'open' and was_due) then true
        when verdict in ('on_time', 'open') then false
    end as is_late, -- Whether the shipment left after its target day, or is open past that day; null without a verdict
    shipping_carrier_code, -- Code of the carrier
    shipping_method, -- Code of the shipping method used
    order_shipping_method, -- Code of the shipping method requested by the order
    is_method_allowed, -- Whether the retailer allows the method used; null if the retailer lists no methods or no method is set
    packages, -- Number of packages
    packages_without_sscc, -- Number of packages without a Serial Shipping Container Code (SSCC)
    is_sscc_required, -- Whether the order requires an SSCC, for cartons or pallets; null if the order is missing or does not specify it
    case
        when packages > 0 and is_sscc_required then packages_without_sscc > 0
        when packages > 0 and not is_sscc_required then false
    end as is_sscc_missing, -- Whether an SSCC is required but a package has none; null without packages
    is_documents_required, -- Whether documents are required
    is_electronic_customs -- Whether customs declarations are electronic
from judged
