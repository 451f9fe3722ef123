-- question: How much packaging is used per month?
-- grain: one row per packaging item and local month of packing; units are pieces; live shipments
select
    packaging.packaging_name,
    packaging.used_as,
    date_trunc('month', shipments.packed_day)::date as month,
    count(*) as uses,
    sum(packaging.packaging_units) as packaging_units
from marts.packaging
inner join marts.shipments on packaging.shipment_id = shipments.shipment_id
where shipments.is_live and shipments.packed_day is not null
group by packaging.packaging_id, packaging.packaging_name, packaging.used_as, month
order by month, packaging.packaging_name, packaging.used_as
