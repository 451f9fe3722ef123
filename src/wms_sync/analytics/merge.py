"""Merging one flattened window into the tables: newer wins, children as sets, a receipt in the same transaction.

An object takes effect only if its (``updated_at``, ``_extracted_at``) is not older than the stored one, whatever the
order in which windows arrive. Its children are replaced with it. The rows are counted at each step; a difference
refuses the transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from wms_sync import sql_files
from wms_sync.analytics.errors import CountsDisagreeError
from wms_sync.analytics.flattened import FlattenedWindow
from wms_sync.catalogue import Table, quote, tables
from wms_sync.state.store import Window

PERSONAL = "pii"
OPERATIONS = "ops"


def receipts(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The windows that are in the tables."""
    return frozenset(row[0] for row in connection.execute("select window_id from ops.loads").fetchall())


class Merger:
    """Merges windows into one open database."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, parquet: Path, *, include_addresses: bool) -> None:
        self._connection = connection
        self._parquet = parquet
        stored = [table for table in tables() if include_addresses or table.schema != PERSONAL]
        self._families = [
            (root, [table for table in stored if table.root == root.name])
            for root in stored
            if root.is_root and root.schema != OPERATIONS
        ]
        self._by_window = [table for table in stored if table.schema == OPERATIONS]

    def merge(self, window: Window, flattened: FlattenedWindow) -> dict[str, int]:
        """Merge a window in one transaction; rows that went into each table.

        Raises ``CountsDisagreeError`` when rows do not add up; nothing of the window is merged then.
        """
        rows: dict[str, int] = {}
        with _transaction(self._connection):
            for root, family in self._families:
                rows |= self._merge_family(root, family, flattened)
            for table in self._by_window:
                rows[table.slug] = self._append(table, window.id, flattened)
            self._write_receipt(window, flattened, sum(rows.values()))
        return rows

    def _merge_family(self, root: Table, family: Sequence[Table], flattened: FlattenedWindow) -> dict[str, int]:
        """A root table and its children. Of an object that occurs several times the newest occurrence counts."""
        files = {table.slug: flattened.files(self._parquet, table.slug) for table in family}
        if not files[root.slug]:
            orphans = [name for name in files if files[name]]
            if orphans:
                raise CountsDisagreeError(f"Rows of {', '.join(orphans)} came without any row of {root.name}.")
            return {}
        self._find_winners(root, files[root.slug])
        rows = {}
        for table in family:
            if files[table.slug]:
                self._count_parquet(table, files[table.slug], flattened.rows[table.slug])
            rows[table.slug] = self._replace(table, files[table.slug])
        return rows

    def _find_winners(self, root: Table, files: Sequence[str]) -> None:
        statement = sql_files.read("merge/winners.sql").format(
            table=root.qualified, key=quote(root.root_key), newer=quote(root.newer or "_extracted_at")
        )
        self._connection.execute(statement, {"files": files})

    def _replace(self, table: Table, files: Sequence[str]) -> int:
        root_key = quote(table.root_key)
        self._connection.execute(sql_files.read("merge/delete.sql").format(table=table.qualified, root_key=root_key))
        if not files:
            return 0
        columns = ", ".join(quote(column.name) for column in table.columns)
        statement = sql_files.read("merge/insert.sql").format(table=table.qualified, columns=columns, root_key=root_key)
        return _changed(self._connection.execute(statement, {"files": files}))

    def _append(self, table: Table, window_id: str, flattened: FlattenedWindow) -> int:
        """Rows about a window itself: replaced with the window."""
        self._connection.execute(f"delete from {table.qualified} where _window_id = ?", [window_id])
        files = flattened.files(self._parquet, table.slug)
        if not files:
            return 0
        return _changed(
            self._connection.execute(f"insert into {table.qualified} by name select * from read_parquet(?)", [files])
        )

    def _count_parquet(self, table: Table, files: Sequence[str], expected: int) -> None:
        row = self._connection.execute("select count(*) from read_parquet(?)", [files]).fetchone()
        if row is None or row[0] != expected:
            raise CountsDisagreeError(
                f"The Parquet files of {table.slug} hold {row[0] if row else 0} rows where {expected} were flattened: "
                f"{', '.join(files)}. Nothing of this window was merged; delete the files and run again."
            )

    def _write_receipt(self, window: Window, flattened: FlattenedWindow, merged: int) -> None:
        receipt = {
            "window_id": window.id,
            "from_at": window.from_at,
            "to_at": window.to_at,
            "reason": window.reason,
            "run_id": window.run_id,
            "pages": window.pages,
            "records": window.records,
            "quarantined": flattened.quarantined,
            "rows_flattened": sum(flattened.rows.values()),
            "rows_merged": merged,
            "loaded_at": datetime.now(UTC),
        }
        self._connection.execute(sql_files.read("merge/receipt.sql"), receipt)


@contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _changed(result: duckdb.DuckDBPyConnection) -> int:
    row = result.fetchone()
    return int(row[0]) if row else 0
