-- grain: one row per time zone of a warehouse and time in which its offset from UTC stays the same
-- keys: timezone, from_at
-- source: the load step, from WMS_WAREHOUSE_TIMEZONES and the time zone database of the machine that loads
-- notes: the times of a zone leave no gap, so a join by timezone, from_at <= time and time < to_at finds one row
create table ops.timezones (
    timezone varchar not null, -- Name of the time zone, such as America/New_York; warehouses.timezone refers to it.
    from_at timestamptz not null, -- From when the offset counts, inclusive (UTC).
    to_at timestamptz not null, -- Until when it counts, exclusive (UTC).
    utc_offset_seconds bigint not null -- What to add to a time in UTC to get the local time, in seconds.
)
