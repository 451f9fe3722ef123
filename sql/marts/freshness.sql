-- grain: one row: the time that the data covers
-- keys: data_until
-- source: ops.latest_load, ops.windows, shipments
-- notes: has no row until the first load
create or replace view marts.freshness as
select
    latest_load.data_until, -- Sync cursor: every change in the service before this time is here (UTC); null until the first read
    latest_load.loaded_at, -- When the tables were last loaded (UTC, by the clock of the loading machine)
    (epoch_us(now()) - epoch_us(latest_load.data_until)) / 3600000000 as hours_old, -- Hours from data_until to the query, by the clock of whoever asks
    (
        select min(windows.from_at) from ops.windows
        where windows.state = 'loaded' and windows.reason in ('sync', 'backfill')
    ) as data_from, -- Start of the covered time (UTC); shipments last changed before it are not here
    (select max(shipments.updated_at) from main.shipments) as newest_change, -- Time of the newest change of a shipment (UTC)
    (select count(*) from main.shipments) as shipments, -- Number of shipments, with any status
    latest_load.run_id, -- Run that last loaded the tables (Dagster run id)
    latest_load.version -- Version of wms-sync that last loaded the tables
from ops.latest_load
