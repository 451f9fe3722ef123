-- severity: error
-- blocking: no
-- table: warehouses
-- mart: marts.shipments
-- description: The periods of a time zone in ops.timezones follow each other, so that each time has one local time.
-- wrong: {count} [period|periods] in ops.timezones [overlaps|overlap] the previous one of the zone or [leaves|leave] a gap
-- named: {timezone} from {from_at}
-- notes: every other join of marts.shipments is by keys that other checks prove unique, so it has one row for each shipment
select
    timezone,
    from_at
from ops.timezones
qualify from_at <> lag(to_at) over (partition by timezone order by from_at)
