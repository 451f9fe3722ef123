-- question: How empty are the packages, by box?
-- grain: one row per box; empty part in percent
-- source: marts.package_costs
select
    box_name,
    count(*) as packages,
    avg(void_percent) as average_void_percent,
    max(void_percent) as largest_void_percent
from marts.package_costs
where has_left and container_id is not null and void_percent is not null
group by container_id, box_name
order by average_void_percent desc
