-- grain: one row per value collected while packing
-- keys: shipment_id, package_position, position
-- needs: package
-- source: ShipmentPackage.collected_data (spec 2.4)
with collected as (
    select
        _page,
        shipment_id,
        position as package_position,
        unnest(collected_data) as entry,
        generate_subscripts(collected_data, 1)::integer as position
    from package
)

select
    shipment_id,
    package_position,
    position,
    entry.order_item_id,
    entry.label,
    entry."value",
    _page
from collected
