-- grain: one row: the shipments that are open past their ship-by date
-- notes: new: since a week. Shipments of closed orders are not waited for by anybody
select
    count(*) as shipments,
    count(*) filter (where shipments.days_late > 2) as over_two_days,
    count(*) filter (where shipments.days_late <= 7) as new,
    count(*) filter (where not orders.is_open) as of_closed_orders,
    count(*) filter (where orders.is_open is distinct from false and shipments.days_late > 30) as over_thirty_days
from marts.shipments
left join marts.orders on shipments.order_id = orders.order_id
where shipments.is_open and shipments.days_late > 0
