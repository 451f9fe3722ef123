-- grain: one row per window whose reading was started, as recorded in the state store when the file was published
-- keys: id
-- source: the state store
-- notes: the windows in state loaded form the coverage, except those with reason undated or audit, which are not read by time
create table ops.windows (
    id varchar not null, -- Window; folder name under raw/shipments.
    from_at timestamptz not null, -- Start of the window of Shipment.updated_at, inclusive (UTC).
    to_at timestamptz not null, -- End of the time that the window covers, exclusive (UTC): earlier than in ops.loads if coverage was withdrawn, and from_at if nothing is left.
    state varchar not null, -- reading, landed (all pages on disk), loaded (in the tables) or abandoned.
    reason varchar not null, -- Why the window was read: sync, backfill, undated (shipments without updated_at) or audit.
    run_id varchar not null, -- Run that started the window (Dagster run id).
    count_reported bigint, -- Number of shipments in the window, counted by the service with the first page; until that page, the count used for cutting.
    pages integer not null, -- Number of pages landed.
    records bigint not null, -- Number of shipments landed.
    bytes bigint not null, -- Number of bytes landed, compressed.
    started_at timestamptz not null, -- When reading started (UTC, by this machine's clock).
    landed_at timestamptz, -- When the last page was on disk and the count was checked (UTC).
    loaded_at timestamptz, -- When the window was in the tables (UTC).
    read_seconds double -- Duration of the read, in seconds.
)
