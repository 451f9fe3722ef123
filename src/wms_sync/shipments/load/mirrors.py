"""Copy tables of the state store for analysts, as of the publishing: ``ops.windows``, ``ops.narrowed_fields``."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from types import SimpleNamespace

import duckdb
from msgspec.structs import asdict, replace

from wms_sync.settings import Settings
from wms_sync.shipments.read.field_selection import refused_now
from wms_sync.state.store import StateStore
from wms_sync.targets.database import replace_rows


def write_windows(connection: duckdb.DuckDBPyConnection, store: StateStore, landed: Collection[str]) -> None:
    """Replace ``ops.windows`` by the rows of the state store, with the windows in ``landed`` shown as loaded."""
    now = datetime.now(UTC)
    shown = [
        replace(window, state="loaded", loaded_at=now) if window.id in landed else window for window in store.windows()
    ]
    replace_rows(connection, "windows", shown)


def write_narrowed(connection: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Replace ``ops.narrowed_fields`` by the parameters of field selection that the service refuses."""
    rows = [SimpleNamespace(**asdict(one), lost=loss) for one, loss in refused_now(settings)]
    replace_rows(connection, "narrowed_fields", rows)
