"""The receipts in ``ops.loads``: which windows are in the tables, and their Parquet files."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import FlattenedWindow, flattened_window, is_flattened


def receipts(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Return the ids of the windows that are in the tables."""
    return frozenset(row[0] for row in connection.execute("select window_id from ops.loads").fetchall())


def merged_windows(connection: duckdb.DuckDBPyConnection, layout: Layout) -> Iterator[FlattenedWindow]:
    """Yield every window that has a receipt and still has its Parquet files."""
    for window_id in sorted(receipts(connection)):
        if is_flattened(layout, window_id):
            yield flattened_window(layout, window_id)
