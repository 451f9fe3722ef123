"""How many rows the tables of a lake have, from its catalogue: to name each table costs requests to PostgreSQL."""

from __future__ import annotations

import duckdb

from wms_sync import sql_files
from wms_sync.analytics.lake_place import NAME
from wms_sync.catalogue import literal

CATALOGUE = f"__ducklake_metadata_{NAME}"
"""What DuckLake calls the database of its catalogue."""


def committed_rows(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], int] | None:
    """Return the rows of every table, by schema and name, that this connection sees and did not change itself.

    None if it is not a lake's.
    """
    if connection.execute(sql_files.read("lake/is_attached.sql").format(name=literal(NAME))).fetchone() is None:
        return None
    [[snapshot]] = connection.execute(sql_files.read("lake/current_snapshot.sql")).fetchall()
    counted = literal(sql_files.read("lake/row_counts.sql").format(snapshot=snapshot))
    rows = connection.execute(f"from postgres_query({literal(CATALOGUE)}, {counted})").fetchall()
    return {(schema, table): count for schema, table, count in rows}
