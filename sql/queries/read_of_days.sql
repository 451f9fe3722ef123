-- grain: one row per day of updated_at (UTC)
-- keys: updated_on
-- source: the Parquet files of shipments of some windows
-- notes: a shipment on several pages of one day counts once
select
    cast(updated_at at time zone 'UTC' as date) as updated_on,
    count(distinct id) as records
from read_parquet($files, union_by_name = true)
where updated_at is not null
group by updated_on
