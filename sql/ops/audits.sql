-- grain: one row per slice of old shipments that was read again and compared with the tables before the merge
-- keys: window_id
-- source: the state store
-- notes: the merge repairs every difference except absent shipments, which stay and are marked when proven missing; results are null until the slice is compared
create table ops.audits (
    window_id varchar not null, -- Window of the slice; folder name under raw/shipments.
    run_id varchar not null, -- Run that read the slice (Dagster run id).
    read_at timestamptz not null, -- When the slice was read (UTC, by this machine's clock).
    after_id bigint not null, -- The slice starts after this shipment id.
    to_id bigint not null, -- Last shipment id of the slice; the largest BIGINT if the slice reaches the end.
    settled_at timestamptz not null, -- Shipments last changed before this time must be in the tables (UTC).
    settled_counted bigint not null, -- Number of shipments last changed before settled_at, counted by the service.
    total_to_id bigint not null, -- Highest shipment id read so far.
    total_counted bigint not null, -- Number of shipments up to total_to_id and changed since the start date, counted by the service.
    compared bigint, -- Number of shipments of the slice that the tables held in the same version.
    changed bigint, -- Number of compared shipments whose rows differed: the service changed them without changing updated_at.
    missed bigint, -- Number of shipments of the slice whose version, older than settled_at, was not in the tables.
    absent bigint, -- Number of shipments in the tables, not yet marked missing, that the slice should contain but does not, or has only as stubs of deleted shipments.
    missing bigint not null, -- Number of absent shipments that the service did not return when requested by id, or that the slice has as stubs of deleted shipments; marked _missing_since.
    orders_changed bigint, -- Number of orders of the slice that changed, although no shipment of them has a new updated_at.
    settled_in_tables bigint, -- Number of shipments in the tables last changed before settled_at and not marked missing.
    total_in_tables bigint, -- Number of shipments in the tables up to total_to_id, changed since the start date and not marked missing.
    voided bigint, -- Number of shipments, orders and other objects of the slice that the tables held with a later updated_at: it moved back, so earlier versions are void.
    examples varchar -- Examples of the ids of differing shipments and orders by kind of difference, as JSON.
)
