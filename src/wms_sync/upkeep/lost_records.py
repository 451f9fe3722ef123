"""Find records that an earlier release lost: windows with fewer flattened shipments than their pages hold.

Up to 0.1.0 a single value that DuckDB refused made its whole page be dropped, and the window still counted as covered.
Such windows are searched once, in the manifests of their Parquet files. ``PROVEN`` in the state store records that all
windows are complete.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import duckdb

from wms_sync import sql_files
from wms_sync.flatten.window import FlattenedWindow, flattened_window, is_flattened
from wms_sync.layout import Layout
from wms_sync.state.store import COMPLETE_STATES, StateStore, Window
from wms_sync.upkeep.damaged_parquet import take_away_damaged_records

PROVEN = "records_proven"


def lossy_windows(layout: Layout, store: StateStore) -> Iterator[tuple[Window, int]]:
    """Yield the windows that lost shipments in flattening, each with how many."""
    if store.observation(PROVEN) is not None:
        return
    take_away_damaged_records(layout, store)
    for window in store.windows(*COMPLETE_STATES):
        if is_flattened(layout, window.id):
            lost = _lost(layout, window, flattened_window(layout, window.id))
            if lost > 0:
                yield window, lost


def loaded_with_fewer(
    connection: duckdb.DuckDBPyConnection, layout: Layout, store: StateStore, known: Collection[str]
) -> frozenset[str]:
    """Return the windows in the tables that were flattened again after they had been merged."""
    if store.observation(PROVEN) is not None:
        return frozenset()
    rows = dict(connection.execute("select window_id, rows_flattened from ops.loads").fetchall())
    return frozenset(
        window
        for window in known
        if is_flattened(layout, window) and _was_flattened_again(flattened_window(layout, window), rows[window])
    )


def note_proven(store: StateStore) -> None:
    """Record that every window has all its records in the published tables."""
    if store.observation(PROVEN) is None:
        store.observe(PROVEN, 1, "each window's records are in its Parquet files")


def _was_flattened_again(flattened: FlattenedWindow, rows_merged: int) -> bool:
    return flattened.records_removed is not None and sum(flattened.rows.values()) != rows_merged


def _lost(layout: Layout, window: Window, flattened: FlattenedWindow) -> int:
    short = window.records - flattened.rows.get("shipments", 0)
    if flattened.records_removed is not None or short <= 0:
        return 0
    files = flattened.files(layout, "ops_quarantine")
    if not files:
        return short
    with duckdb.connect() as connection:
        counted = connection.execute(sql_files.read("queries/whole_records.sql"), {"files": files}).fetchone()
    return short - (int(counted[0]) if counted else 0)
