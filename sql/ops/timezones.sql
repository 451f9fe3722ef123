-- grain: one row per time zone of a warehouse and period with one offset from UTC
-- keys: timezone, from_at
-- source: the load step, from WMS_WAREHOUSE_TIMEZONES and the time zone database of the loading machine
-- notes: the periods of a zone leave no gap, so a join by timezone, from_at <= time and time < to_at finds one row
create table ops.timezones (
    timezone varchar not null, -- Name of the time zone, such as America/New_York; warehouses.timezone refers to it.
    from_at timestamptz not null, -- Start of the period, inclusive (UTC).
    to_at timestamptz not null, -- End of the period, exclusive (UTC).
    utc_offset_seconds bigint not null -- Local time minus UTC, in seconds.
)
