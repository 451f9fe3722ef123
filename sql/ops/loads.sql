-- grain: one receipt a window that was merged into the tables, written in the transaction that merged it
-- keys: window_id
-- source: the load step
-- notes: the receipt decides after a crash whether a window is in the tables
create table ops.loads (
    window_id varchar not null, -- Window whose rows were merged; the folder name under raw/shipments.
    from_at timestamptz not null, -- Start of the window of Shipment.updated_at, inclusive, UTC.
    to_at timestamptz not null, -- End of the window, exclusive, UTC.
    reason varchar not null, -- Why the window was read: sync, backfill or audit.
    run_id varchar not null, -- Run that read the window (Dagster's run id).
    load_run_id varchar, -- Run that merged it into the tables; null in receipts from before this column.
    pages integer not null, -- Pages of the window.
    records bigint not null, -- Shipments on those pages.
    quarantined bigint not null, -- Values and records of the window that did not fit; see ops.quarantine.
    rows_flattened bigint not null, -- Rows that the pages became, over all tables.
    loaded_at timestamptz not null -- When the window was merged, by this machine's clock, UTC.
)
