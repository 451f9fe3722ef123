-- grain: one row per package of a shipment
-- kept: yes
-- source: Shipment.packages, merged with included.ShipmentPackage if present
-- notes: the columns are the position and the fields of type shipment_package
with stated as (
    select
        _page,
        id as shipment_id,
        unnest(packages) as package,
        generate_subscripts(packages, 1)::integer as position
    from shipment
),

included as (
    select
        _page,
        object as package
    from page."ShipmentPackage"
),

resolved as (
    select
        stated._page,
        stated.shipment_id,
        stated.position,
        completed_shipment_package(included.package, stated.package) as package
    from stated
    left join included
        on stated._page = included._page and stated.package.id = included.package.id
)

select
    _page,
    shipment_id,
    position,
    unnest(package)
from resolved
