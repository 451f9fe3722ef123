"""The Parquet files of windows, and queries for the rows of a table in them, whatever release wrote them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import Table, literal, quote
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import FlattenedWindow, flattened_window, is_flattened
from wms_sync.state.store import Window

WindowGroup = Sequence[tuple[Window, FlattenedWindow]]
"""Windows that are merged in one transaction."""


def receipts(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Return the ids of the windows that are in the tables."""
    return frozenset(row[0] for row in connection.execute("select window_id from ops.loads").fetchall())


def merged_windows(connection: duckdb.DuckDBPyConnection, layout: Layout) -> Iterator[FlattenedWindow]:
    """Yield every window that has a receipt and still has its Parquet files."""
    for window_id in sorted(receipts(connection)):
        if is_flattened(layout, window_id):
            yield flattened_window(layout, window_id)


def files_of(group: WindowGroup, layout: Layout, slug: str) -> list[str]:
    """Return the paths of a table's files of these windows."""
    return [file for _, flattened in group for file in flattened.files(layout, slug)]


def rows_in_files(table: Table, files: str = "files") -> str:
    """Return the query for all rows of a table in files; ``files`` is the name of the parameter that lists them."""
    return sql_files.read("merge/rows_in_files.sql").format(table=table.qualified, files=files)


def chosen_rows(table: Table, chosen: str) -> str:
    """Return the query for the rows of versions that the temporary table ``chosen`` lists, from ``$files``."""
    return sql_files.read("merge/chosen_rows.sql").format(
        columns=", ".join(map(quote, table.column_names)),
        incoming=rows_in_files(table),
        chosen=chosen,
        root_key=quote(table.root_key),
    )


def rows_of(table: Table, files: Sequence[str]) -> str:
    """Return the from clause for a table's rows in these files of one load; it has no rows if there are no files."""
    if not files:
        return f"(from {table.qualified} limit 0)"
    return f"read_parquet([{', '.join(map(literal, files))}])"
