-- grain: one row per shipment that has a packing solution
-- kept: yes
-- source: Shipment.packing_solution, merged with included.ShipmentPackingSolution if present
-- notes: an empty object does not count as a packing solution
with included as (
    select
        _page,
        object as packing_solution
    from page."ShipmentPackingSolution"
)

select
    shipment._page,
    shipment.id as shipment_id,
    unnest(completed_shipment_packing_solution(included.packing_solution, shipment.packing_solution))
from shipment
left join included
    on
        shipment._page = included._page
        and shipment.packing_solution.id = included.packing_solution.id
where shipment.packing_solution.id is not null or shipment.packing_solution.containers is not null
