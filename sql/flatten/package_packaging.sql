-- grain: one row per packaging item used in a package
-- keys: shipment_id, package_position, position
-- needs: package
-- source: ShipmentPackage.packaging (spec 2.4)
with packaging as (
    select
        _page,
        shipment_id,
        position as package_position,
        unnest(packaging) as part,
        generate_subscripts(packaging, 1)::integer as position
    from package
)

select
    shipment_id,
    package_position,
    position,
    part.product.id as product_id,
    part.product."type" as product_type,
    part.quantity,
    _page
from packaging
