-- grain: one row per item in a package
-- keys: shipment_id, package_position, position
-- needs: package
-- completed: ShipmentPackageItem
-- source: ShipmentPackage.items, merged with included.ShipmentPackageItem if present (spec 2.4)
with stated as (
    select
        _page,
        shipment_id,
        position as package_position,
        generate_subscripts(items, 1)::integer as position,
        unnest(items, max_depth := 2)
    from package
)

select
    shipment_id,
    package_position,
    position,
    id,
    sku,
    "name",
    quantity,
    weight."value" as weight_value,
    weight.unit as weight_unit,
    hazmat_unit_weight."value" as hazmat_unit_weight_value,
    hazmat_unit_weight.unit as hazmat_unit_weight_unit,
    customs_value.amount as customs_value_amount,
    customs_value.currency as customs_value_currency,
    total_customs_value.amount as total_customs_value_amount,
    total_customs_value.currency as total_customs_value_currency,
    order_item_id,
    order_item_sku,
    coalesce(order_item_quantity, order_item_qty) as order_item_quantity,
    shipment_item_id,
    _page
from stated
