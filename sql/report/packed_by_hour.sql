-- grain: one row per weekday and local hour in which something was packed in the last eight weeks
-- keys: weekday, hour
-- source: marts.packed_per_hour, marts.shipment_timeline
-- notes: weekday 1 is Monday; all warehouses, each by its own clock
with today as (
    select
        warehouse_id,
        any_value(today) as today
    from marts.shipment_timeline
    group by warehouse_id
)

select
    isodow(packed.day) as weekday,
    packed.hour,
    sum(packed.shipments)::bigint as shipments
from marts.packed_per_hour as packed
inner join today
    on packed.warehouse_id is not distinct from today.warehouse_id and packed.day > today.today - 56
group by all
order by weekday, packed.hour
