"""What the marts need to know of time: the zone of each warehouse, the offsets of these zones, and 'now'.

Every load writes it anew, so a changed setting takes effect with the next load.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from importlib.metadata import version
from types import SimpleNamespace

import duckdb

from wms_sync import sql_files
from wms_sync.settings import Settings
from wms_sync.shipments.read.plan import sync_cursor
from wms_sync.state.store import StateStore
from wms_sync.targets.database import definitions, records, replace_rows
from wms_sync.timezones import WarehouseTimezones, offsets


def write_timezones(connection: duckdb.DuckDBPyConnection, zones: WarehouseTimezones) -> None:
    """Set ``warehouses.timezone``, and replace ``ops.timezones`` by the offsets of every zone in use."""
    wanted = {
        one["id"]: zones.of(one["name"], one["abbreviation"]) or zones.default
        for one in records(connection.execute(sql_files.read("queries/warehouses.sql")))
    }
    given = {"ids": list(wanted), "timezones": list(wanted.values())}
    connection.execute(sql_files.read("known/warehouse_timezones.sql"), given)
    now = datetime.now(UTC)
    replace_rows(connection, "timezones", [one for zone in zones.used for one in offsets(zone, now)])


def write_latest_load(
    connection: duckdb.DuckDBPyConnection,
    settings: Settings,
    store: StateStore,
    run_id: str,
    later: Collection[str] = (),
) -> None:
    """Replace ``ops.latest_load`` by what this load knows; windows that are merged ``later`` cover nothing yet."""
    covered = store.covered(without=later)
    row = SimpleNamespace(
        data_until=sync_cursor(settings.start, covered) if covered else None,
        loaded_at=datetime.now(UTC),
        run_id=run_id,
        version=version("wms-sync"),
        default_timezone=settings.timezones.default,
        definitions=definitions(),
    )
    replace_rows(connection, "latest_load", [row])
