-- grain: one row per box of the last eight weeks, the ten most used
-- keys: box
-- source: marts.package_costs, marts.shipment_timeline
-- notes: equal names are shown with their ids
with boxes as (
    select
        costs.container_id,
        coalesce(costs.box_name, costs.container_style) as named,
        count(*) as packages,
        avg(costs.void_percent) as void_percent
    from marts.package_costs as costs
    inner join marts.shipment_timeline as timeline
        on costs.shipment_id = timeline.shipment_id and costs.left_day > timeline.today - 56
    where costs.void_percent is not null and coalesce(costs.box_name, costs.container_style) is not null
    group by costs.container_id, named
)

select
    case
        when count(*) over (partition by named) > 1 then concat_ws(' ', named, '(' || container_id || ')')
        else named
    end as box,
    packages,
    void_percent
from boxes
order by packages desc, box asc
limit 10
