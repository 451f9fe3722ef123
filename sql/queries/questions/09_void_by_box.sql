-- question: How much void space do packages have, by box?
-- grain: one row per box; void space in percent; packages of shipped shipments
select
    packages.container_name,
    count(packages.void_percent) as packages,
    avg(packages.void_percent) as average_void_percent,
    max(packages.void_percent) as largest_void_percent
from marts.packages
inner join marts.shipments on packages.shipment_id = shipments.shipment_id
where shipments.is_shipped and packages.container_id is not null and packages.void_percent is not null
group by packages.container_id, packages.container_name
order by average_void_percent desc
