-- grain: one row per weekday and local hour in which something was packed in the last eight weeks
-- keys: weekday, hour
-- source: marts.packed_per_hour, ops.latest_load
-- notes: weekday 1 is Monday; all warehouses, each by its own clock
select
    isodow(packed.day) as weekday,
    packed.hour,
    sum(packed.shipments)::bigint as shipments
from marts.packed_per_hour as packed
inner join ops.latest_load
    on packed.day > latest_load.data_until::date - 56
group by all
order by weekday, packed.hour
