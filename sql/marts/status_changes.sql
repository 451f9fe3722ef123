-- grain: one row per observed status change of a shipment or an order
-- keys: object, id, version
-- source: history.shipments and history.orders
-- notes: a status that lasted only between two readings is not here; the first observed status of an object may have begun before changed_at, which is then the last change before the first reading
create or replace view history.status_changes as
with versions as (
    select
        'shipment' as object,
        *
    from history.shipments
    union all by name
    select
        'order' as object,
        *
    from history.orders
),

compared as (
    select
        *,
        lag(status) over (partition by object, id order by version) as previous_status,
        max(valid_to) filter (where is_current) over (partition by object, id) as ends_at
    from versions
)

select
    object, -- Kind of the object: shipment or order
    id, -- The shipment or order; joins shipments.id or orders.id
    version, -- The first version with the status; joins history.shipments.version or history.orders.version
    status, -- The new status, an open set
    previous_status, -- The previous status; null for the first observed status
    valid_from as changed_at, -- When the status began, valid_from of that version (UTC)
    coalesce(lead(valid_from) over (partition by object, id order by version), ends_at) as ended_at, -- When the status ended, or the object was missing from the service (UTC); null while the object has the status
    date_diff('second', valid_from, ended_at) / 3600 as hours, -- Hours from changed_at to ended_at; null while the object has the status
    lead(version) over (partition by object, id order by version) is null as is_latest, -- Whether this is the last observed status
    seen_at -- When a page first contained the object with this status (UTC)
from compared
where version = 1 or status is distinct from previous_status
