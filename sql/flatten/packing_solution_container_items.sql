-- grain: one row per item in a container of a packing solution
-- keys: shipment_id, container_position, position
-- needs: packing_solution
-- source: ShipmentPackingSolution.containers[].items (spec 2.4)
with container as (
    select
        _page,
        shipment_id,
        unnest(containers) as container,
        generate_subscripts(containers, 1)::integer as container_position
    from packing_solution
),

placed as (
    select
        _page,
        shipment_id,
        container_position,
        unnest(container.items) as item,
        generate_subscripts(container.items, 1)::integer as position
    from container
)

select
    shipment_id,
    container_position,
    position,
    item.id,
    item."type",
    item.sku,
    item.quantity,
    item.order_item_id,
    item.order_item_sku,
    item.order_item_qty as order_item_quantity,
    item.shipment_item_id,
    item.weight."value" as weight_value,
    item.weight.unit as weight_unit,
    _page
from placed
