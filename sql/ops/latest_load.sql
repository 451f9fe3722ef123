-- grain: one row, about the latest load of the tables
-- keys: loaded_at
-- source: the load step
-- notes: empty until the first load. marts.freshness shows the same data with the newest window
create table ops.latest_load (
    data_until timestamptz, -- Sync cursor: every change in the service before this time is in the tables (UTC); null until the first read. It is the 'now' of every mart.
    loaded_at timestamptz not null, -- When the load ended (UTC, by this machine's clock).
    run_id varchar not null, -- Run that loaded the tables (Dagster run id).
    version varchar not null, -- Version of wms-sync that loaded the tables.
    default_timezone varchar not null, -- Time zone of every warehouse that WMS_WAREHOUSE_TIMEZONES does not name.
    definitions varchar -- Digest of the definitions of tables and marts in this load; a load with other definitions compares and completes the tables.
)
