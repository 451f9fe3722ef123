-- question: Which shipments were created and due on the same local day, and left later?
-- grain: one row per warehouse; created and due on one local day
-- source: marts.shipment_timeline, warehouses
select
    warehouses."name" as warehouse_name,
    count(*) as created_and_due,
    count(*) filter (where timeline.verdict = 'late' or (timeline.verdict = 'open' and timeline.was_due)) as missed
from marts.shipment_timeline as timeline
left join main.warehouses
    on timeline.warehouse_id = warehouses.id
where timeline.created_day = timeline.target_ship_date and timeline.verdict in ('on_time', 'late', 'open')
group by timeline.warehouse_id, warehouses."name"
order by warehouse_name
