"""Compare a slice that was read again with the tables, before it is merged; and keep ``ops.audits``.

A shipment of the slice is *changed* if its rows differ although ``updated_at`` is the same, *missed* if the tables lack
a version that they should have, and *absent* if the tables have it and the slice does not. A shipment that changed
after the sync's horizon counts as none of these: the next sync reads it. Nor does one that the slice shows as a stub
that says nothing, or with a value that did not fit its type: it is reported as quarantined. An object of any kind is
*voided* if the tables have it with a later ``updated_at`` than the slice, which was read later: the merge takes the
slice's version.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import SimpleNamespace

import duckdb
from msgspec.structs import asdict

from wms_sync import sql_files
from wms_sync.analytics.database import has_ops_table, records, replace_rows
from wms_sync.analytics.errors import DatabaseOpenError
from wms_sync.analytics.files import rows_of
from wms_sync.analytics.merge import WindowGroup
from wms_sync.analytics.narrowing import Narrowing, narrowing
from wms_sync.analytics.target import Target, target_of
from wms_sync.catalogue import Table, quote, table, tables
from wms_sync.flatten.stubs import SAYS_NOTHING
from wms_sync.flatten.window import FlattenedWindow
from wms_sync.layout import Layout
from wms_sync.privacy.fields import SHIP_TO
from wms_sync.settings import Settings
from wms_sync.state.audits import Audit, AuditResult, Audits, MissingShipment

EXAMPLES = 20
NOT_COMPARED = frozenset({*SHIP_TO, "shipping_address_id"})
"""Release 0.1.0 did not ask for these without addresses: what its windows lack is no change of the service."""
_NUMBERS = ("after_id", "to_id", "settled_counted", "total_to_id", "total_counted", "compared", "changed", "missed")
_MORE_NUMBERS = ("absent", "missing", "orders_changed", "settled_in_tables", "total_in_tables", "voided")


def stored_shipments(settings: Settings, after_id: int, to_id: int) -> frozenset[int]:
    """Return the ids that a slice of ``(after_id, to_id]`` should hold. The caller holds the writer's lock."""
    bounds = {"after_id": after_id, "to_id": to_id, "start": settings.start}
    try:
        with target_of(settings).newest(memory_limit=settings.memory_limit) as connection:
            found = connection.execute(sql_files.read("audit/stored.sql"), bounds).fetchall()
    except (duckdb.Error, DatabaseOpenError):
        return frozenset()  # nothing is proven then; the load that follows reports what is wrong with the file
    return frozenset(one for (one,) in found)


class Comparison:
    """Compares one slice with one open database.

    ``missing`` is what is known to be missing, also by this slice, and ``lacking`` what its window did not bring.
    ``make_room`` is called after each table.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        layout: Layout,
        audit: Audit,
        flattened: FlattenedWindow,
        missing: Sequence[MissingShipment],
        lacking: Narrowing,
        make_room: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._layout = layout
        self._audit = audit
        self._flattened = flattened
        self._missing = missing
        self._lacking = lacking
        self._make_room = make_room

    def result(self, start: datetime) -> AuditResult:
        """Return where the tables differ from the service, for shipments changed at ``start`` or later."""
        self._find_versions(start)
        compared, missed, absent = (self._ids(verdict) for verdict in (None, "missed", "absent"))
        changed, orders = self._differing("shipments", "audit_shipments"), self._differing("orders", "audit_orders")
        voided = {f"voided_{root.slug}": self._voided(root) for root in tables() if root.is_root and root.newer}
        found = {"changed": changed, "missed": missed, "absent": absent, "orders_changed": orders, **voided}
        settled, total = self._totals(start)
        return AuditResult(
            compared=len(compared),
            changed=len(changed),
            missed=len(missed),
            absent=len(absent),
            orders_changed=len(orders),
            settled_in_tables=settled,
            total_in_tables=total,
            voided=sum(map(len, voided.values())),
            examples=json.dumps({what: ids[:EXAMPLES] for what, ids in found.items() if ids}),
        )

    def _find_versions(self, start: datetime) -> None:
        known = [missing.shipment_id for missing in self._missing if missing.window_id != self._audit.window_id]
        values = {
            "start": start,
            "after_id": self._audit.after_id,
            "to_id": self._audit.to_id,
            "settled_at": self._audit.settled_at,
            "known_missing": known,
            "says_nothing": SAYS_NOTHING,
        }
        quarantine = self._incoming(table("ops_quarantine"))
        self._connection.execute(
            sql_files.read("audit/misfits.sql").format(
                quarantine=quarantine,
                shipments=self._incoming(table("shipments")),
                order_items=self._incoming(table("order_items")),
            )
        )
        self._connection.execute(self._statement("slice", "shipments", quarantine=quarantine), values)
        self._connection.execute(sql_files.read("audit/same_shipments.sql"))
        self._connection.execute(self._statement("same_orders", "orders"))

    def _statement(self, name: str, slug: str, **parts: str) -> str:
        return sql_files.read(f"audit/{name}.sql").format(incoming=self._incoming(table(slug)), **parts)

    def _ids(self, verdict: str | None) -> list[int]:
        query = "select id from audit_slice where verdict is not distinct from ? order by id"
        return [row[0] for row in self._connection.execute(query, [verdict]).fetchall()]

    def _differing(self, root: str, same: str) -> list[int]:
        """Return the shipments or orders (``root``) with a differing row in any table."""
        found: set[int] = set()
        for member in tables():
            if member.root == root and member.schema == "main" and member.slug not in self._lacking.sets:
                compared = set(member.column_names) - self._lacking.columns_of(member.slug) - NOT_COMPARED
                statement = sql_files.read("audit/differing.sql").format(
                    table=member.qualified,
                    root_key=quote(member.root_key),
                    columns=", ".join(
                        quote(name) for name in member.column_names if name in compared and name[0] != "_"
                    ),
                    incoming=self._incoming(member),
                    same=same,
                )
                found.update(row[0] for row in self._connection.execute(statement).fetchall())
                self._make_room()
        return sorted(found)

    def _voided(self, root: Table) -> list[int]:
        statement = sql_files.read("audit/voided.sql").format(
            table=root.qualified,
            key=quote(root.root_key),
            newer=quote(root.newer or ""),
            incoming=self._incoming(root),
        )
        return [row[0] for row in self._connection.execute(statement).fetchall()]

    def _incoming(self, of: Table) -> str:
        return rows_of(of, self._flattened.files(self._layout, of.slug))

    def _totals(self, start: datetime) -> tuple[int, int]:
        bounds = {"start": start, "settled_at": self._audit.settled_at, "total_to_id": self._audit.total_to_id}
        query = sql_files.read("audit/totals.sql")
        missing = [missing.shipment_id for missing in self._missing]
        row = self._connection.execute(query, bounds | {"missing": missing}).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)


def compare(
    connection: duckdb.DuckDBPyConnection,
    layout: Layout,
    audits: Audits,
    group: WindowGroup,
    narrow: Mapping[str, tuple[str, ...]],
    *,
    start: datetime,
    make_room: Callable[[], None],
) -> Sequence[str]:
    """Compare the slices in a group of windows, before it is merged, and record the results; return their windows.

    A slice that was compared before is skipped. ``narrow`` says by window what it lacks. ``make_room`` is called often.
    """
    due = audits.uncompared()
    compared = []
    for window, flattened in group:
        if window.id in due:
            lacking = narrowing(narrow.get(window.id, ()))
            comparison = Comparison(
                connection, layout, due[window.id], flattened, list(audits.missing().values()), lacking, make_room
            )
            audits.complete(window.id, comparison.result(start))
            compared.append(window.id)
    return compared


def write_audits(connection: duckdb.DuckDBPyConnection, audits: Audits) -> None:
    """Replace ``ops.audits`` by the audits of the state store."""
    missing = Counter(one.window_id for one in audits.all_missing())
    known = [SimpleNamespace(**asdict(audit), missing=missing[audit.window_id]) for audit in audits.all()]
    replace_rows(connection, "audits", known)


def restore_audits(target: Target, audits: Audits) -> None:
    """Copy the published audits and missing shipments into the state store."""
    if not target.is_published:
        return
    with target.published() as connection:
        if not has_ops_table(connection, "missing_shipments"):
            return
        known = records(connection.execute("select * exclude (missing) from ops.audits"))
        proven = records(connection.execute("select * from ops.missing_shipments"))
    audits.take_in([Audit(**row) for row in known], [MissingShipment(**row) for row in proven])
