-- grain: one row: counts of the shipments in the table since the start date, up to a time and up to an id
-- source: the table before the slice is merged
-- notes: excludes shipments known to be missing, including those found by this audit; the service counts by time from a second earlier
select
    count(*) filter (where updated_at > $start - interval 1 second and updated_at < $settled_at) as settled_in_tables,
    count(*) filter (where id <= $total_to_id and (updated_at is null or updated_at >= $start)) as total_in_tables
from shipments
where id not in (select unnest($missing::bigint[]))
