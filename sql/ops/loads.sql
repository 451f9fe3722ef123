-- grain: one row per window merged into the tables: its receipt, written in the transaction that merged it
-- keys: window_id
-- source: the load step
-- notes: after a crash the receipt shows whether a window is in the tables
create table ops.loads (
    window_id varchar not null, -- Window whose rows were merged; folder name under raw/shipments.
    from_at timestamptz not null, -- Start of the window of Shipment.updated_at, inclusive (UTC).
    to_at timestamptz not null, -- End of the window, exclusive (UTC).
    reason varchar not null, -- Why the window was read: sync, backfill or audit.
    run_id varchar not null, -- Run that read the window (Dagster run id).
    load_run_id varchar not null, -- Run that merged the window into the tables.
    pages integer not null, -- Number of pages in the window.
    records bigint not null, -- Number of shipments on those pages.
    quarantined bigint not null, -- Number of values and records of the window that did not fit their type, and of stubs; see ops.quarantine.
    rows_flattened bigint not null, -- Number of rows that the pages were flattened into, in all tables.
    loaded_at timestamptz not null -- When the window was merged (UTC, by this machine's clock).
)
