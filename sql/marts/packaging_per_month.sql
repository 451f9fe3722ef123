-- grain: one row per merchant, packaging item, way of use and local month in which packages with it were packed
-- keys: merchant_id, packaging_id, used_as, month
-- source: packages, package_packaging, products, orders, merchants, marts.shipment_timeline
-- notes: excludes shipments that were canceled, voided or deleted, and those without a time of packing. A packaging item that is the container or infill of
--     a package is not counted again in its other packaging
create or replace view marts.packaging_per_month as
with used as (
    select
        shipment_id,
        container_id as packaging_id,
        'container' as used_as,
        1::decimal(18, 4) as quantity
    from main.packages
    where container_id is not null
    union all
    select
        shipment_id,
        infill_id as packaging_id,
        'infill' as used_as,
        1::decimal(18, 4) as quantity
    from main.packages
    where infill_id is not null
    union all
    select
        listed.shipment_id,
        listed.product_id as packaging_id,
        'other' as used_as,
        listed.quantity
    from main.package_packaging as listed
    inner join main.packages
        on listed.shipment_id = packages.shipment_id and listed.package_position = packages.position
    where
        listed.product_id is not null
        and listed.product_id is distinct from packages.container_id
        and listed.product_id is distinct from packages.infill_id
        and coalesce(listed.product_type, '') not in ('PackagingDataCollection', 'PackagingInstruction')
),

counted as (
    select
        orders.merchant_id,
        used.packaging_id,
        used.used_as,
        date_trunc('month', timeline.packed_day)::date as month,
        count(*) as uses,
        sum(used.quantity) as quantity
    from used
    inner join marts.shipment_timeline as timeline
        on used.shipment_id = timeline.shipment_id
    left join main.orders
        on timeline.order_id = orders.id
    where timeline.is_live and timeline.packed_day is not null
    group by orders.merchant_id, used.packaging_id, used.used_as, date_trunc('month', timeline.packed_day)::date
)

select
    counted.merchant_id, -- The merchant; joins merchants.id
    merchants."name" as merchant_name, -- Name of the merchant
    counted.packaging_id, -- The packaging item; joins products.id
    products.sku as packaging_sku, -- Stock keeping unit of the packaging item
    products."name" as packaging_name, -- Name of the packaging item
    products."type" as packaging_type, -- Kind of the packaging item, such as PackagingContainer
    counted.used_as, -- container (the box of a package), infill, or other (supplies and other packaging of the package)
    counted.month, -- First day of the local month in which the packages were packed
    counted.uses, -- Number of times that a package lists the item
    counted.quantity -- Quantity used, in pieces; a container or infill counts as one per package. Null if no package has a quantity
from counted
left join main.merchants
    on counted.merchant_id = merchants.id
left join main.products
    on counted.packaging_id = products.id
