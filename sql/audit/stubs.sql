-- grain: one row per shipment and absence: the first stub that marks it as deleted, and the time when a later page had it in full
-- keys: shipment_id, window_id
-- source: the Parquet files of ops.quarantine and of shipments, and history.shipments before these windows are merged
-- notes: {incoming} is empty if the windows have no shipment; the first stub between two pages with the full shipment counts
with stub as (
    select
        object_id as shipment_id,
        _window_id as window_id,
        min(_extracted_at) as missing_since
    from read_parquet($quarantine, union_by_name = true)
    where object = 'Shipment' and why = $says_deleted
    group by
        object_id,
        _window_id
),

shown as (
    select
        id,
        _extracted_at as shown_at
    from {incoming}
    union all
    select
        id,
        last_seen_at as shown_at
    from history.shipments
),

absence as (
    select
        stub.shipment_id,
        stub.window_id,
        stub.missing_since,
        min(shown.shown_at) as returned_at
    from stub
    left join shown
        on stub.shipment_id = shown.id and stub.missing_since < shown.shown_at
    group by
        stub.shipment_id,
        stub.window_id,
        stub.missing_since
)

select
    shipment_id,
    window_id,
    missing_since,
    returned_at
from absence
qualify row_number() over (partition by shipment_id, returned_at order by missing_since, window_id) = 1
order by
    missing_since,
    shipment_id,
    window_id
