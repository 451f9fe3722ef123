-- grain: one row: shipments in the table that were changed since the start date, up to a moment and up to an id
-- source: the table before the slice is merged
-- notes: without what is known to be missing, also by this very audit
select
    count(*) filter (where updated_at < $settled_at) as settled_in_tables,
    count(*) filter (where id <= $total_to_id) as total_in_tables
from shipments
where
    updated_at > $start - interval 1 second
    and id not in (select unnest($missing::bigint[]))
