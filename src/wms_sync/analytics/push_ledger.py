"""``ops.push_ledger``: the ledger of creates as analysts see it, and what the tables prove of it.

A create that a page shows has made the round trip: the ledger learns when, learns an id that a lost answer did not
bring, and what was in doubt is settled.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.analytics.database import reading, records, replace_rows
from wms_sync.analytics.errors import DatabaseOpenError
from wms_sync.layout import Layout
from wms_sync.state.ledger import CLOCKS_DIFFER, Entry, PushLedger, Sighting, State


def write_push_ledger(connection: duckdb.DuckDBPyConnection, ledger: PushLedger, service: str | None) -> int:
    """Replace ``ops.push_ledger`` by what the ledger knows, after telling it what the tables show of ``service``.

    Returns how many things were seen for the first time.
    """
    ledger.take_in(_entries(connection))  # what is replaced may be the only copy
    replace_rows(connection, "push_ledger", ledger.all())
    if service is None:
        return 0
    given = {"service": service, "clocks_differ": CLOCKS_DIFFER}
    shown = "\nunion all\n".join(f"({sql_files.read(path)})" for path in sql_files.listed("shown"))
    rows = connection.execute(sql_files.read("known/pushed_and_seen.sql").format(shown=shown), given).fetchall()
    if rows:
        ledger.record_sightings([Sighting(service, kind, key, id_, seen_at) for kind, key, id_, seen_at in rows])
        replace_rows(connection, "push_ledger", ledger.all())
    return len(rows)


def restore_push_ledger(layout: Layout, database: Path, ledger: PushLedger) -> int:
    """Take in what the working or the published file knows of creates and the ledger does not; returns how many.

    A state store that was deleted knows none, one that was put back from an old copy knows less. What was sent after
    the file was written is not in it: those things are found in the service or are in doubt.
    """
    try:
        with reading(layout, database) as connection:
            return ledger.take_in(_entries(connection))
    except (duckdb.Error, DatabaseOpenError):
        return 0  # there is none; what is wrong with it is said by whoever needs it


def _entries(connection: duckdb.DuckDBPyConnection) -> list[Entry]:
    rows = records(connection.execute("from ops.push_ledger"))
    return [Entry(**row | {"state": State(row["state"])}) for row in rows]
