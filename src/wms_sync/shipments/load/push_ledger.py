"""``ops.push_ledger``: the ledger of creates for analysts, updated by what the tables prove about it.

When a page shows a created thing, the create has made the round trip. The ledger then records when, records the id if
the answer that should have brought it was lost, and settles the create if it was in doubt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.state.creates_journal import CreatesJournal
from wms_sync.state.ledger import CLOCKS_DIFFER, Entry, PushLedger, Sighting, State
from wms_sync.targets.database import records, replace_rows, stored_rows
from wms_sync.targets.errors import DatabaseOpenError
from wms_sync.targets.target import Target


def write_push_ledger(connection: duckdb.DuckDBPyConnection, ledger: PushLedger, service: str | None) -> int:
    """Record in the ledger what the tables show of ``service``, and replace ``ops.push_ledger`` by the ledger.

    Return how many things were seen for the first time.
    """
    stored, names = stored_rows(connection, "push_ledger"), table("ops_push_ledger").column_names
    ledger.take_in(_entries(dict(zip(names, row, strict=True)) for row in stored))  # they may be the only copy
    entries = ledger.all()
    replace_rows(connection, "push_ledger", entries, stored)
    if service is None or all(one.seen_at is not None for one in entries):
        return 0
    given = {"service": service, "clocks_differ": CLOCKS_DIFFER}
    shown = "\nunion all\n".join(f"({sql_files.read(path)})" for path in sql_files.listed("shown"))
    rows = connection.execute(sql_files.read("known/pushed_and_seen.sql").format(shown=shown), given).fetchall()
    if rows:
        ledger.record_sightings([Sighting(service, kind, key, id_, seen_at) for kind, key, id_, seen_at in rows])
        replace_rows(connection, "push_ledger", ledger.all())
    return len(rows)


def restore_push_ledger(copies: Target, journal: CreatesJournal, ledger: PushLedger) -> int:
    """Copy into the ledger the creates that only the published tables or the journal know; return how many.

    This repairs a state store that was deleted or restored from an old copy. The journal knows the products that were
    sent after the tables were written; a second retailer or location tag is refused by the service.
    """
    return ledger.take_in(published_push_ledger(copies)) + ledger.take_in(journal.entries())


def published_push_ledger(copies: Target) -> list[Entry]:
    """Return the copy of the ledger in the published tables, empty if there is none."""
    if not copies.is_published:
        return []
    try:
        with copies.published() as connection:
            return _entries(records(connection.execute("from ops.push_ledger")))
    except (duckdb.Error, DatabaseOpenError):
        return []  # the step that needs them reports what is wrong with them


def _entries(rows: Iterable[Mapping[str, Any]]) -> list[Entry]:
    return [Entry(**{**row, "state": State(row["state"])}) for row in rows]
