-- grain: one row a slice of old shipments that was read again and compared with the tables before it was merged
-- keys: window_id
-- source: the state store
-- notes: what differed was healed by the merge, but for absent shipments, which stay and are marked when proven missing; counts are null until compared
create table ops.audits (
    window_id varchar not null, -- The slice's window; the folder name under raw/shipments.
    run_id varchar not null, -- Run that read the slice (Dagster's run id).
    read_at timestamptz not null, -- When it was read, by this machine's clock, UTC.
    after_id bigint not null, -- The slice begins behind this shipment id.
    to_id bigint not null, -- The slice ends with this shipment id; the largest BIGINT when it reaches the end.
    settled_at timestamptz not null, -- What was last changed before this must be in the tables, UTC.
    settled_counted bigint not null, -- Shipments last changed before settled_at that the service counted.
    total_to_id bigint not null, -- The highest shipment id that was read so far.
    total_counted bigint not null, -- Shipments up to total_to_id that the service counted, of those changed since the start date.
    compared bigint, -- Shipments of the slice that the tables had in the same version.
    changed bigint, -- Of those compared, the ones whose rows differed: changed without touching updated_at.
    missed bigint, -- Shipments of the slice whose version, older than settled_at, the tables did not have.
    absent bigint, -- Shipments in the tables, not yet marked missing, that the slice should hold and does not.
    missing bigint not null, -- Of those absent, the ones that the service did not have either when asked for them by id: marked _missing_since.
    orders_changed bigint, -- Orders of the slice with the same updated_at and other rows.
    settled_in_tables bigint, -- Shipments last changed before settled_at in the tables and not marked missing.
    total_in_tables bigint, -- Shipments up to total_to_id in the tables, changed since the start date and not marked missing.
    voided bigint, -- Shipments, orders and others of the slice that the tables had with a later updated_at: it moved back, and what was read before is void.
    examples varchar -- Some ids of shipments and orders that were found, by what was found, as JSON.
)
