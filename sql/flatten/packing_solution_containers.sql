-- grain: one row per container of a packing solution
-- keys: shipment_id, position
-- needs: packing_solution
-- source: ShipmentPackingSolution.containers (spec 2.4)
with placed as (
    select
        _page,
        shipment_id,
        unnest(containers) as container,
        generate_subscripts(containers, 1)::integer as position
    from packing_solution
)

select
    shipment_id,
    position,
    container.id,
    container."type",
    container.weight."value" as weight_value,
    container.weight.unit as weight_unit,
    container.dimensions.length as dimensions_length,
    container.dimensions.width as dimensions_width,
    container.dimensions.height as dimensions_height,
    container.dimensions.unit as dimensions_unit,
    container.volume."value" as volume_value,
    container.volume.unit as volume_unit,
    container.void_percent,
    container.regulation_type,
    _page
from placed
