"""Comparing a slice that was read again with the tables, before it is merged; and ``ops.audits``.

A shipment of the slice is *changed* when its rows differ though ``updated_at`` is the same, *missed* when the tables
lack a version that they should have, *absent* when the tables have it and the service no longer does. One that was
changed after the sync's horizon has moved on: the next sync reads it.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import duckdb
import pyarrow as pa

from wms_sync import sql_files
from wms_sync.analytics.database import replace_rows
from wms_sync.analytics.flattened import FlattenedWindow
from wms_sync.analytics.merge import Batch
from wms_sync.catalogue import Table, literal, quote, table, tables
from wms_sync.state.audits import Audit, Audits, Outcome

EXAMPLES = 20
_MOMENT = pa.timestamp("us", tz="UTC")
_NUMBERS = ("after_id", "to_id", "settled_counted", "total_to_id", "total_counted", "compared", "changed", "missed")
_MORE_NUMBERS = ("absent", "orders_changed", "settled_in_tables", "total_in_tables")
_SCHEMA = pa.schema(
    [
        ("window_id", pa.string()),
        ("run_id", pa.string()),
        ("read_at", _MOMENT),
        ("settled_at", _MOMENT),
        *((name, pa.int64()) for name in (*_NUMBERS, *_MORE_NUMBERS)),
        ("examples", pa.string()),
    ]
)


class Comparison:
    """One slice against one open database."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, parquet: Path, audit: Audit, flattened: FlattenedWindow
    ) -> None:
        self._connection = connection
        self._parquet = parquet
        self._audit = audit
        self._flattened = flattened

    def outcome(self, start: datetime) -> Outcome:
        """What the tables have in another way than the service, of shipments changed at ``start`` or later."""
        self._find_versions(start)
        compared, missed, absent = (self._ids(verdict) for verdict in (None, "missed", "absent"))
        changed, orders = self._differing("shipments", "audit_shipments"), self._differing("orders", "audit_orders")
        found = {"changed": changed, "missed": missed, "absent": absent, "orders_changed": orders}
        settled, total = self._totals(start)
        return Outcome(
            compared=len(compared),
            changed=len(changed),
            missed=len(missed),
            absent=len(absent),
            orders_changed=len(orders),
            settled_in_tables=settled,
            total_in_tables=total,
            examples=json.dumps({what: ids[:EXAMPLES] for what, ids in found.items() if ids}),
        )

    def _find_versions(self, start: datetime) -> None:
        bounds = {"after_id": self._audit.after_id, "to_id": self._audit.to_id, "settled_at": self._audit.settled_at}
        self._connection.execute(self._statement("slice", "shipments"), {"start": start, **bounds})
        self._connection.execute(sql_files.read("audit/same_shipments.sql"))
        self._connection.execute(self._statement("same_orders", "orders"))

    def _statement(self, name: str, slug: str) -> str:
        return sql_files.read(f"audit/{name}.sql").format(incoming=self._incoming(table(slug)))

    def _ids(self, verdict: str | None) -> list[int]:
        query = "select id from audit_slice where verdict is not distinct from ? order by id"
        return [row[0] for row in self._connection.execute(query, [verdict]).fetchall()]

    def _differing(self, root: str, same: str) -> list[int]:
        """Shipments or orders of which a row in any table differs."""
        found: set[int] = set()
        for member in tables():
            if member.root == root and member.schema == "main":
                statement = sql_files.read("audit/differing.sql").format(
                    table=member.qualified,
                    root_key=quote(member.root_key),
                    columns=", ".join(quote(name) for name in member.column_names if not name.startswith("_")),
                    incoming=self._incoming(member),
                    same=same,
                )
                found.update(row[0] for row in self._connection.execute(statement).fetchall())
        return sorted(found)

    def _incoming(self, of: Table) -> str:
        files = self._flattened.files(self._parquet, of.slug)
        if not files:
            return f"(from {of.qualified} limit 0)"
        return f"read_parquet([{', '.join(map(literal, files))}])"

    def _totals(self, start: datetime) -> tuple[int, int]:
        bounds = {"start": start, "settled_at": self._audit.settled_at, "total_to_id": self._audit.total_to_id}
        row = self._connection.execute(sql_files.read("audit/totals.sql"), bounds).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)


def compare(
    connection: duckdb.DuckDBPyConnection, parquet: Path, audits: Audits, batch: Batch, *, start: datetime
) -> None:
    """Compare the slices that a batch holds, before it is merged; one that was compared before stays as it was."""
    due = audits.open()
    for window, flattened in batch:
        if window.id in due:
            comparison = Comparison(connection, parquet, due[window.id], flattened)
            audits.complete(window.id, comparison.outcome(start))


def write_audits(connection: duckdb.DuckDBPyConnection, audits: Audits) -> None:
    """Replace ``ops.audits`` by what the state store knows."""
    replace_rows(connection, "audits", audits.all(), _SCHEMA)
