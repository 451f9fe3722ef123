-- question: At which hours are shipments packed?
-- grain: one row per warehouse and local hour, over all days
select
    warehouse_name,
    packed_hour,
    count(distinct packed_day) as days,
    count(*) as shipments,
    sum(packages)::bigint as packages
from marts.shipments
where packed_hour is not null
group by warehouse_id, warehouse_name, packed_hour
order by warehouse_name, packed_hour
