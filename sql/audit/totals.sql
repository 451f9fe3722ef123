-- grain: one row: counts of the shipments in the table changed since the start date, up to a time and up to an id
-- source: the table before the slice is merged
-- notes: excludes shipments known to be missing, including those found by this audit
select
    count(*) filter (where updated_at < $settled_at) as settled_in_tables,
    count(*) filter (where id <= $total_to_id) as total_in_tables
from shipments
where
    updated_at > $start - interval 1 second
    and id not in (select unnest($missing::bigint[]))
