-- grain: one row per local hour in which something was packed in the eight whole weeks
-- notes: shipments is per hour and working day, a day on which something was packed, over all warehouses, each by its own clock
with packed as (
    select
        packed_hour,
        packed_day
    from marts.shipments
    where packed_day >= $since and packed_day < $this_week
)

select
    packed_hour as hour,
    count(*) / (select count(distinct packed_day) from packed) as shipments
from packed
group by packed_hour
order by packed_hour
