-- source: ops.missing_shipments
-- notes: sets or clears the mark of every shipment that was ever proven missing; a page read after the proof disproves it
update shipments
set _missing_since = proven.missing_since
from (
    select
        marked.id,
        min(missing.missing_since) filter (
            where missing.returned_at is null and marked._extracted_at <= missing.missing_since
        ) as missing_since
    from ops.missing_shipments as missing
    inner join shipments as marked on missing.shipment_id = marked.id
    group by marked.id
) as proven
where shipments.id = proven.id and shipments._missing_since is distinct from proven.missing_since
