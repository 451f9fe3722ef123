-- question: At which hours are shipments packed?
-- grain: one row per warehouse and local hour, over all days
-- source: marts.packed_per_hour
select
    warehouse_name,
    hour,
    count(*) as days,
    sum(shipments)::bigint as shipments,
    sum(packages)::bigint as packages
from marts.packed_per_hour
group by warehouse_id, warehouse_name, hour
order by warehouse_name, hour
