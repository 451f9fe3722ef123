-- grain: one row per use of a packaging item in a package
-- keys: shipment_id, package_position, used_as, packaging_position
-- source: packages, package_packaging, products
-- notes: join marts.shipments by shipment_id for its merchant, days and status. A packaging item that is the container or infill of a package
--     is not a row again for its other packaging; instructions and collected data use nothing up
create or replace view marts.packaging as
with used as (
    select
        shipment_id,
        position as package_position,
        unnest(['container', 'infill']) as used_as,
        1 as packaging_position,
        unnest([container_id, infill_id]) as packaging_id,
        1::decimal(38, 4) as packaging_units
    from main.packages
    union all
    select
        listed.shipment_id,
        listed.package_position,
        'other' as used_as,
        listed.position as packaging_position,
        listed.product_id as packaging_id,
        listed.quantity as packaging_units
    from main.package_packaging as listed
    inner join main.packages
        on listed.shipment_id = packages.shipment_id and listed.package_position = packages.position
    where
        listed.product_id is distinct from packages.container_id
        and listed.product_id is distinct from packages.infill_id
        and coalesce(listed.product_type, '') not in ('PackagingDataCollection', 'PackagingInstruction')
)

select
    used.shipment_id, -- The shipment; joins marts.shipments.shipment_id
    used.package_position, -- Position of the package in the shipment, from 1
    used.used_as, -- container (the box of the package), infill, or other (supplies and other packaging of the package)
    used.packaging_position, -- Position in the package's list of packaging, from 1; 1 for a container or infill
    used.packaging_id, -- The packaging item; joins main.products.id
    products.sku as packaging_sku, -- Stock keeping unit of the packaging item
    products."name" as packaging_name, -- Name of the packaging item
    products."type" as packaging_type, -- Kind of the packaging item, such as PackagingContainer
    used.packaging_units -- Quantity of packaging used, in pieces; 1 for a container or infill. Null if the service sent none
from used
left join main.products on used.packaging_id = products.id
where used.packaging_id is not null
