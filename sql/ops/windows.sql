-- grain: one row a window that was begun, as the state store knew it when the file was published
-- keys: id
-- source: the state store
-- notes: the windows in state loaded are the coverage, but for those of reason audit, which read by id
create table ops.windows (
    id varchar not null, -- Window; the folder name under raw/shipments.
    from_at timestamptz not null, -- Start of the window of Shipment.updated_at, inclusive, UTC.
    to_at timestamptz not null, -- End of the window, exclusive, UTC.
    state varchar not null, -- reading, landed (all pages on disk), loaded (in the tables) or abandoned.
    reason varchar not null, -- Why the window was read: sync, backfill or audit.
    run_id varchar not null, -- Run that began the window (Dagster's run id).
    count_reported bigint, -- Shipments that the service counted for the window with its first page.
    pages integer not null, -- Pages landed.
    records bigint not null, -- Shipments landed.
    bytes bigint not null, -- Bytes landed, compressed as received.
    started_at timestamptz not null, -- When reading began, by this machine's clock, UTC.
    landed_at timestamptz, -- When the last page was on disk and counted, UTC.
    loaded_at timestamptz, -- When the tables had it, UTC.
    read_seconds double, -- How long the read took, seconds.
    narrowed varchar -- What of field selection it was not asked for, comma-separated: a parameter, or parameter=field; null where nothing lacks.
)
