-- question: Which shipments were created and due on the same local day, and shipped later?
-- grain: one row per warehouse; created and due on one local day that is over
select
    warehouse_name,
    count(is_on_time) as created_and_due,
    count(*) filter (where not is_on_time) as missed
from marts.shipments
where created_day = target_ship_date
group by warehouse_id, warehouse_name
order by warehouse_name
