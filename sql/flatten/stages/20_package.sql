-- grain: one row a package of a shipment
-- kept: yes
-- source: Shipment.packages, with included.ShipmentPackage where it is there
-- notes: the columns are the place and the fields of the type shipment_package
with stated as (
    select
        _window_id,
        _page,
        _extracted_at,
        id as shipment_id,
        unnest(packages) as package,
        generate_subscripts(packages, 1)::integer as position
    from shipment
),

included as (
    select
        _page,
        unnest("ShipmentPackage") as package
    from page
)

select
    stated._window_id,
    stated._page,
    stated._extracted_at,
    stated.shipment_id,
    stated.position,
    unnest(coalesce(included.package, stated.package))
from stated
left join included
    on stated._page = included._page and stated.package.id = included.package.id
