-- source: shipments
-- notes: ends the latest version of every shipment that is marked missing, and reopens it for a shipment that returned
update history.shipments
set valid_to = marked.valid_to
from (
    select
        latest.id,
        case when stored._missing_since is not null then greatest(latest.valid_from, stored._missing_since) end as valid_to
    from history.shipments as latest
    inner join shipments as stored
        on latest.id = stored.id
    where latest.is_current and coalesce(stored._missing_since, latest.valid_to) is not null
) as marked
where
    history.shipments.id = marked.id
    and history.shipments.is_current
    and history.shipments.valid_to is distinct from marked.valid_to
