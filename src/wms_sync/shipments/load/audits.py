"""Compare a slice that was read again with the tables, before it is merged; mark missing shipments.

A shipment in the slice's range is *changed* if its rows differ although ``updated_at`` is the same, *missed* if the
tables lack a version that they should have, and *absent* if the tables have it and the slice does not. A shipment that
changed in the sync's overlap or later does not count as missed: the next sync reads it. A shipment that was quarantined
whole does not count as absent, unless it is a stub that says deleted. A shipment with a value that did not fit its type
does not count as changed, or as missed if the value is ``updated_at``; it is reported as quarantined. An object with an
``updated_at`` is *voided* if the tables have it with a later one than the slice, which was read later: the merge takes
the slice's version.

A shipment is *missing* if an audit proved that the service no longer has it, or if a page has a stub that marks it as
deleted. The proofs are in the state store. Every load marks the tables from them at its end
(``shipments._missing_since`` and ``ops.missing_shipments``), so a rebuild or a load after a killed load produces the
same marks. A shipment whose rows are replaced loses its mark with them. A later page may also contain a missing
shipment without replacing its rows, if its ``updated_at`` moved back; so pages are searched for missing shipments. If
no shipment is missing, this search is skipped; if none ever was, no table is marked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from types import SimpleNamespace

import duckdb
from msgspec.structs import asdict, replace

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote, table, tables
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.values import SAYS_DELETED
from wms_sync.shipments.flatten.window import FlattenedWindow, WindowGroup, files_of, rows_of
from wms_sync.shipments.load.omitted import PERSONAL, Omitted, OmittedData, omitted_data
from wms_sync.state.audits import Audit, Audits, MissingShipment
from wms_sync.state.store import Window
from wms_sync.targets.database import replace_rows
from wms_sync.targets.errors import DatabaseOpenError, without_statement
from wms_sync.targets.target import target_of

EXAMPLES = 20


def stored_shipments(settings: Settings, after_id: int, to_id: int) -> frozenset[int]:
    """Return the ids that a slice of ``(after_id, to_id]`` should contain. The caller holds the writer's lock.

    Raise ``DatabaseOpenError`` if the tables cannot be read.
    """
    bounds = {"after_id": after_id, "to_id": to_id, "start": settings.start}
    try:
        with target_of(settings).published(memory_limit=settings.memory_limit) as connection:
            found = connection.execute(sql_files.read("audit/stored.sql"), bounds).fetchall()
    except duckdb.Error as error:
        raise DatabaseOpenError(
            f"The tables cannot be read ({type(error).__name__}: {without_statement(error)})."
        ) from error
    return frozenset(shipment for (shipment,) in found)


class Comparison:
    """Compares one slice with one open database.

    ``missing`` are the known missing shipments, including those of this slice; ``omitted`` is the data that the window
    of the slice omits.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        layout: Layout,
        audit: Audit,
        flattened: FlattenedWindow,
        missing: Sequence[MissingShipment],
        omitted: OmittedData,
    ) -> None:
        self._connection = connection
        self._layout = layout
        self._audit = audit
        self._flattened = flattened
        self._missing = missing
        self._omitted = omitted

    def result(self, start: datetime) -> Audit:
        """Return the audit with the differences that it found, for shipments changed at ``start`` or later."""
        self._find_versions(start)
        compared, missed, absent = (self._ids(verdict) for verdict in (None, "missed", "absent"))
        changed, orders = self._differing("shipments", "audit_shipments"), self._differing("orders", "audit_orders")
        orders = sorted({*orders, *self._outdated()})
        voided = {f"voided_{root.slug}": self._voided(root) for root in tables() if root.is_root and root.newer}
        found = {"changed": changed, "missed": missed, "absent": absent, "orders_changed": orders, **voided}
        bounds = {"start": start, "settled_at": self._audit.settled_at, "total_to_id": self._audit.total_to_id}
        gone = {"missing": [missing.shipment_id for missing in self._missing]}
        [(settled, total)] = self._connection.execute(sql_files.read("audit/totals.sql"), bounds | gone).fetchall()
        return replace(
            self._audit,
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
            "says_deleted": SAYS_DELETED,
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
            if member.root == root and member.schema == "main" and member.slug not in self._omitted.sets:
                compared = set(member.column_names) - self._omitted.columns_of(member.slug)
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
        return sorted(found)

    def _outdated(self) -> list[int]:
        given = {"settled_at": self._audit.settled_at}
        return [row[0] for row in self._connection.execute(self._statement("outdated", "orders"), given).fetchall()]

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


def compare(
    connection: duckdb.DuckDBPyConnection,
    layout: Layout,
    audits: Audits,
    group: WindowGroup,
    omitted: Omitted,
    *,
    start: datetime,
) -> Sequence[str]:
    """Compare the slices in a group of windows with the tables, before the group is merged; return their window ids.

    The results are recorded in the state store; a load that is repeated after a kill records the same results.
    """
    compared = []
    known = {audit.window_id: audit for audit in audits.all()}
    for window, flattened in group:
        if is_new_slice(window) and window.id in known:
            unequal = {PERSONAL} & set(chain(*omitted.values()))  # not requested with each stored version
            data = omitted_data((*omitted.get(window.id, ()), *unequal))
            comparison = Comparison(
                connection, layout, known[window.id], flattened, list(audits.missing().values()), data
            )
            audits.complete(comparison.result(start))
            compared.append(window.id)
    return compared


def is_new_slice(window: Window) -> bool:
    """Return whether the window is a slice that no load has published yet."""
    return window.reason == "audit" and window.state == "landed"


def write_audits(connection: duckdb.DuckDBPyConnection, audits: Audits) -> None:
    """Replace ``ops.audits`` with the audits of the state store."""
    missing = Counter(proven.window_id for proven in audits.all_missing())
    known = [SimpleNamespace(**asdict(audit), missing=missing[audit.window_id]) for audit in audits.all()]
    replace_rows(connection, "audits", known)


def record_shown(connection: duckdb.DuckDBPyConnection, layout: Layout, audits: Audits, group: WindowGroup) -> None:
    """Record in the state store which missing shipments a group's pages show again, and which shipments are deleted.

    Call this before the group is merged: after a kill in between, the next load searches and merges the group again,
    but it would not search a merged group.
    """
    _record_returned(connection, layout, audits, group)
    _record_stubs(connection, layout, audits, group)


def _record_returned(connection: duckdb.DuckDBPyConnection, layout: Layout, audits: Audits, group: WindowGroup) -> None:
    missing = audits.missing()
    files = files_of(group, layout, "shipments")
    if not missing or not files:
        return
    shown = connection.execute(sql_files.read("audit/shown.sql"), {"files": files, "ids": list(missing)}).fetchall()
    later = sorted((moment, shipment) for shipment, moment in shown if moment > missing[shipment].missing_since)
    if later:
        audits.mark_returned({shipment: moment for moment, shipment in reversed(later)})


def _record_stubs(connection: duckdb.DuckDBPyConnection, layout: Layout, audits: Audits, group: WindowGroup) -> None:
    quarantine = files_of(group, layout, "ops_quarantine")
    if not quarantine:
        return
    statement = sql_files.read("audit/stubs.sql").format(
        incoming=rows_of(table("shipments"), files_of(group, layout, "shipments"))
    )
    found = connection.execute(statement, {"quarantine": quarantine, "says_deleted": SAYS_DELETED}).fetchall()
    audits.mark_deleted(MissingShipment(*row) for row in found)


def mark_missing(connection: duckdb.DuckDBPyConnection, audits: Audits) -> None:
    """Update the marks of missing shipments in the tables from the proofs in the state store."""
    proven = audits.all_missing()
    if proven:
        replace_rows(connection, "missing_shipments", proven)
        connection.execute(sql_files.read("audit/mark.sql"))
        connection.execute(sql_files.read("audit/mark_history.sql"))
