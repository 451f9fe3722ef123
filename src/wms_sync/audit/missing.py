"""Marking what the service has no longer: ``shipments._missing_since``, and ``ops.missing_shipments`` behind it.

The proofs are in the state store; the tables are marked from them at the end of every load, so that a rebuild and a
load that was killed end in the same marks. A shipment whose rows are replaced loses its mark with them; one that a
later page shows without replacing them (its ``updated_at`` went back) is found on that page. Without a proof nothing
is looked for and no table is touched.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.analytics.database import replace_rows
from wms_sync.analytics.merge import Batch
from wms_sync.state.audits import Audits


def note_returned(connection: duckdb.DuckDBPyConnection, parquet: Path, audits: Audits, batch: Batch) -> None:
    """Tell the state store what is missing and stands on a later page of a batch. Before it is merged, as with audits:
    a load that is killed in between merges it again, and one that was merged is not looked at again.
    """
    missing = audits.missing()
    files = [file for _, flattened in batch for file in flattened.files(parquet, "shipments")]
    if not missing or not files:
        return
    shown = connection.execute(sql_files.read("audit/shown.sql"), {"files": files, "ids": list(missing)}).fetchall()
    later = sorted((moment, one) for one, moment in shown if moment > missing[one].missing_since)
    if later:
        audits.mark_returned({one: moment for moment, one in reversed(later)})


def mark_missing(connection: duckdb.DuckDBPyConnection, audits: Audits) -> None:
    """Bring the marks in the tables to what is proven."""
    proven = audits.all_missing()
    if proven:
        replace_rows(connection, "missing_shipments", proven)
        connection.execute(sql_files.read("audit/mark.sql"))


def knows_missing(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether a published file is of a version that marks; the next load brings an older one there."""
    query = "select 1 from duckdb_tables() where schema_name = 'ops' and table_name = 'missing_shipments'"
    return connection.execute(query).fetchone() is not None
