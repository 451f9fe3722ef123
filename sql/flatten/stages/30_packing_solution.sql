-- grain: one row per shipment that has a packing solution
-- completed: ShipmentPackingSolution
-- source: Shipment.packing_solution, merged with included.ShipmentPackingSolution if present
-- notes: an empty object does not count as a packing solution
with stated as (
    select
        _page,
        id as shipment_id,
        unnest(packing_solution)
    from shipment
    where packing_solution.id is not null or packing_solution.containers is not null
)

select *
from stated
