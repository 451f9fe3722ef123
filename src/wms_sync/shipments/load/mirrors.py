"""Rewrite tables of ``ops`` in each load: the ledger of creates, the time zones of warehouses, and the load itself.

``ops.push_ledger`` is the ledger for analysts, updated with the proofs in the tables. When a created thing appears on a
page, its create has made the round trip. The ledger then records the time, records the id if the answer to the create
was lost, and settles the create if it was in doubt.

The marts need the zone of each warehouse, the offsets of these zones, and 'now'. A changed setting takes effect with
the next load.
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
from wms_sync.state.ledger import CLOCKS_DIFFER, PushLedger, Sighting
from wms_sync.state.store import StateStore
from wms_sync.targets.database import definitions, records, replace_rows
from wms_sync.timezones import WarehouseTimezones, offsets


def settle_creates(connection: duckdb.DuckDBPyConnection, ledger: PushLedger, service: str | None) -> None:
    """Settle in the ledger the creates of ``service`` that the tables show, and rewrite ``ops.push_ledger``."""
    entries = ledger.all()
    replace_rows(connection, "push_ledger", entries)
    if service is None or all(entry.seen_at is not None for entry in entries):
        return
    given = {"service": service, "clocks_differ": CLOCKS_DIFFER}
    shown = "\nunion all\n".join(f"({sql_files.read(path)})" for path in sql_files.listed("shown"))
    rows = connection.execute(sql_files.read("known/pushed_and_seen.sql").format(shown=shown), given).fetchall()
    if rows:
        ledger.record_sightings([Sighting(service, kind, key, id_, seen_at) for kind, key, id_, seen_at in rows])
        replace_rows(connection, "push_ledger", ledger.all())


def write_timezones(connection: duckdb.DuckDBPyConnection, zones: WarehouseTimezones) -> None:
    """Set ``warehouses.timezone``, and fill ``ops.timezones`` with the offsets of every zone in use."""
    wanted = {
        warehouse["id"]: zones.of(warehouse["name"], warehouse["abbreviation"]) or zones.default
        for warehouse in records(connection.execute(sql_files.read("queries/warehouses.sql")))
    }
    given = {"ids": list(wanted), "timezones": list(wanted.values())}
    connection.execute(sql_files.read("known/warehouse_timezones.sql"), given)
    now = datetime.now(UTC)
    replace_rows(connection, "timezones", [offset for zone in zones.used for offset in offsets(zone, now)])


def write_latest_load(
    connection: duckdb.DuckDBPyConnection,
    settings: Settings,
    store: StateStore,
    run_id: str,
    later: Collection[str] = (),
) -> None:
    """Fill ``ops.latest_load`` with the facts of this load; windows to be merged ``later`` cover nothing yet."""
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
