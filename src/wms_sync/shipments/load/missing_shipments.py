"""Mark the shipments that the service no longer has: ``shipments._missing_since`` and ``ops.missing_shipments``.

A shipment is missing if an audit proved it, or if a page shows it as a stub that says that it is deleted. The proofs
are in the state store. Every load marks the tables from them at its end, so a rebuild or a load that follows
a killed one ends in the same marks. A shipment whose rows are replaced loses its mark with them. A later page may also
show a shipment without replacing its rows, if its ``updated_at`` went back; it is then found on that page. If no
shipment was ever proven missing, nothing is searched and no table is changed.
"""

from __future__ import annotations

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import table
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.stubs import SAYS_DELETED
from wms_sync.shipments.load.merge import WindowGroup
from wms_sync.shipments.load.parquet import rows_of
from wms_sync.state.audits import Audits, MissingShipment
from wms_sync.targets.database import replace_rows


def record_shown(connection: duckdb.DuckDBPyConnection, layout: Layout, audits: Audits, group: WindowGroup) -> None:
    """Record in the state store what the pages of a group say of missing shipments: which returned, which are stubs.

    Call this before the group is merged: after a kill in between, the group is merged and searched again, but a group
    that was merged is never searched again.
    """
    _record_returned(connection, layout, audits, group)
    _record_stubs(connection, layout, audits, group)


def _record_returned(connection: duckdb.DuckDBPyConnection, layout: Layout, audits: Audits, group: WindowGroup) -> None:
    missing = audits.missing()
    files = _files(layout, group, "shipments")
    if not missing or not files:
        return
    shown = connection.execute(sql_files.read("audit/shown.sql"), {"files": files, "ids": list(missing)}).fetchall()
    later = sorted((moment, one) for one, moment in shown if moment > missing[one].missing_since)
    if later:
        audits.mark_returned({one: moment for moment, one in reversed(later)})


def _record_stubs(connection: duckdb.DuckDBPyConnection, layout: Layout, audits: Audits, group: WindowGroup) -> None:
    quarantine = _files(layout, group, "ops_quarantine")
    if not quarantine:
        return
    statement = sql_files.read("audit/stubs.sql").format(
        incoming=rows_of(table("shipments"), _files(layout, group, "shipments"))
    )
    found = connection.execute(statement, {"quarantine": quarantine, "says_deleted": SAYS_DELETED}).fetchall()
    audits.mark_deleted(MissingShipment(*row) for row in found)


def _files(layout: Layout, group: WindowGroup, slug: str) -> list[str]:
    return [file for _, flattened in group for file in flattened.files(layout, slug)]


def mark_missing(connection: duckdb.DuckDBPyConnection, audits: Audits) -> None:
    """Update the marks in the tables from the proofs in the state store."""
    proven = audits.all_missing()
    if proven:
        replace_rows(connection, "missing_shipments", proven)
        connection.execute(sql_files.read("audit/mark.sql"))
        connection.execute(sql_files.read("audit/mark_history.sql"))
