"""Records that an earlier release lost: windows of which fewer shipments were flattened than their pages hold.

Until 0.1.0 one value that DuckDB did not take dropped its page, and the window counted as covered. Such windows are
looked for once, in what was remembered beside their Parquet files; ``PROVEN`` in the state store says that all is well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import duckdb

from wms_sync import sql_files
from wms_sync.flatten.window import FlattenedWindow, flattened_window, is_flattened
from wms_sync.layout import Layout
from wms_sync.state.store import COMPLETE_STATES, StateStore, Window

PROVEN = "records_proven"


def lossy_windows(layout: Layout, store: StateStore) -> Iterator[tuple[Window, int]]:
    """The windows that were flattened with a loss, and how many shipments they lack."""
    if store.observation(PROVEN) is not None:
        return
    for window in store.windows(*COMPLETE_STATES):
        if is_flattened(layout, window.id):
            lost = _lost(layout, window, flattened_window(layout, window.id))
            if lost > 0:
                yield window, lost


def loaded_with_fewer(
    connection: duckdb.DuckDBPyConnection, layout: Layout, store: StateStore, known: Collection[str]
) -> frozenset[str]:
    """Of the windows in the tables, those that were flattened again since they were merged."""
    if store.observation(PROVEN) is not None:
        return frozenset()
    rows = dict(connection.execute("select window_id, rows_flattened from ops.loads").fetchall())
    return frozenset(
        window
        for window in known
        if is_flattened(layout, window) and _was_flattened_again(flattened_window(layout, window), rows[window])
    )


def note_proven(store: StateStore) -> None:
    """Every window that is known has its records, in the tables that are published."""
    if store.observation(PROVEN) is None:
        store.observe(PROVEN, 1, "each window's records are in its Parquet files")


def _was_flattened_again(flattened: FlattenedWindow, rows_merged: int) -> bool:
    return flattened.records_removed is not None and sum(flattened.rows.values()) != rows_merged


def _lost(layout: Layout, window: Window, flattened: FlattenedWindow) -> int:
    short = window.records - flattened.rows.get("shipments", 0)
    if flattened.records_removed is not None or short <= 0:
        return 0
    files = flattened.files(layout.parquet, "ops_quarantine")
    if not files:
        return short
    with duckdb.connect() as connection:
        counted = connection.execute(sql_files.read("queries/whole_records.sql"), {"files": files}).fetchone()
    return short - (int(counted[0]) if counted else 0)
