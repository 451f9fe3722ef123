-- grain: one row per item in a package
-- keys: shipment_id, package_position, position
-- source: ShipmentPackage.items, merged with included.ShipmentPackageItem if present (spec 2.4)
with stated as (
    select
        _page,
        shipment_id,
        position as package_position,
        unnest(items) as item,
        generate_subscripts(items, 1)::integer as position
    from package
),

included as (
    select
        _page,
        object as item
    from page."ShipmentPackageItem"
),

resolved as (
    select
        stated._page,
        stated.shipment_id,
        stated.package_position,
        stated.position,
        completed_shipment_package_item(included.item, stated.item) as item
    from stated
    left join included
        on stated._page = included._page and stated.item.id = included.item.id
)

select
    shipment_id,
    package_position,
    position,
    item.id,
    item.sku,
    item."name",
    item.quantity,
    item.weight."value" as weight_value,
    item.weight.unit as weight_unit,
    item.hazmat_unit_weight."value" as hazmat_unit_weight_value,
    item.hazmat_unit_weight.unit as hazmat_unit_weight_unit,
    item.customs_value.amount as customs_value_amount,
    item.customs_value.currency as customs_value_currency,
    item.total_customs_value.amount as total_customs_value_amount,
    item.total_customs_value.currency as total_customs_value_currency,
    item.order_item_id,
    item.order_item_sku,
    coalesce(item.order_item_quantity, item.order_item_qty) as order_item_quantity,
    item.shipment_item_id,
    _page
from resolved
