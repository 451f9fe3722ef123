-- grain: one row per package of a shipment
-- completed: ShipmentPackage
-- source: Shipment.packages, merged with included.ShipmentPackage if present
-- notes: the columns are the position and the fields of type shipment_package
with stated as (
    select
        _page,
        id as shipment_id,
        generate_subscripts(packages, 1)::integer as position,
        unnest(packages, max_depth := 2)
    from shipment
)

select *
from stated
