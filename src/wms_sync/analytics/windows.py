"""``ops.windows``: the state store's windows as analysts see them, as of the publishing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime

import duckdb
import pyarrow as pa

from wms_sync.analytics.database import replace_rows
from wms_sync.state.store import StateStore

_MOMENT = pa.timestamp("us", tz="UTC")
_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("from_at", _MOMENT),
        ("to_at", _MOMENT),
        ("state", pa.string()),
        ("reason", pa.string()),
        ("run_id", pa.string()),
        ("count_reported", pa.int64()),
        ("pages", pa.int32()),
        ("records", pa.int64()),
        ("bytes", pa.int64()),
        ("started_at", _MOMENT),
        ("landed_at", _MOMENT),
        ("loaded_at", _MOMENT),
        ("read_seconds", pa.float64()),
        ("narrowed", pa.string()),
    ]
)


def write_windows(connection: duckdb.DuckDBPyConnection, store: StateStore, landed: Collection[str]) -> None:
    """Replace ``ops.windows`` by what the state store knows; what was ``landed`` is in the tables beside it."""
    now = datetime.now(UTC)
    shown = [
        replace(window, state="loaded", loaded_at=now) if window.id in landed else window for window in store.windows()
    ]
    replace_rows(connection, "windows", shown, _SCHEMA)
