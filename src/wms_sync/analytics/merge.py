"""Merging flattened windows into the tables: newer wins, children as sets, a receipt in the same transaction.

One total order of the versions of an object decides, whatever the order in which windows arrive: what was read before
an audit or a backfill last read the object is void, so that an ``updated_at`` that moved back heals; among the rest the
newer (``updated_at``, then ``_extracted_at``) takes effect. Without ``updated_at`` a version ranks by when it was read.
An object's children are replaced with it. The rows are counted at each step; a difference refuses the transaction.

The stored version alone decides while objects that are read later are not older. Where they are, versions that lost
before may count again: these few objects are looked up in the Parquet files of the windows that are merged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import duckdb

from wms_sync import sql_files
from wms_sync.analytics.errors import CountsDisagreeError
from wms_sync.analytics.narrowing import Filling, narrowing
from wms_sync.catalogue import Table, quote, tables
from wms_sync.flatten.window import FlattenedWindow, flattened_window, is_flattened
from wms_sync.layout import Layout
from wms_sync.state.store import Window

Batch = Sequence[tuple[Window, FlattenedWindow]]
PERSONAL = "pii"
OPERATIONS = "ops"


def receipts(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The windows that are in the tables."""
    return frozenset(row[0] for row in connection.execute("select window_id from ops.loads").fetchall())


class Merger:
    """Merges windows into one open database.

    ``narrow`` tells of the windows that were not asked for everything, or not given it, what lacks. ``voided`` counts
    by table what went back to an earlier ``updated_at``, because an audit or a backfill showed it so.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        layout: Layout,
        *,
        run_id: str,
        include_addresses: bool,
        narrow: Mapping[str, tuple[str, ...]],
    ) -> None:
        self.voided: Counter[str] = Counter()
        self._connection = connection
        self._layout = layout
        self._parquet = layout.parquet
        self._run_id = run_id
        self._narrow = narrow
        stored = [table for table in tables() if include_addresses or table.schema != PERSONAL]
        self._families = [
            (root, [table for table in stored if table.root == root.name])
            for root in stored
            if root.is_root and root.schema != OPERATIONS
        ]
        self._by_window = [table for table in stored if table.schema == OPERATIONS]

    def merge(self, batch: Batch) -> dict[str, int]:
        """Merge windows in one transaction, with a receipt each; rows that went into each table.

        The windows of a batch all lack the same. Raises ``CountsDisagreeError`` when rows do not add up;
        nothing of the batch is merged then.
        """
        rows: dict[str, int] = {}
        with _transaction(self._connection):
            for window, flattened in batch:  # first: they say why a window was read
                _refuse_loss(window, flattened)
                self._write_receipt(window, flattened)
            for root, family in self._families:
                rows |= self._merge_family(root, family, batch)
            for table in self._by_window:
                rows[table.slug] = self._append(table, batch)
        return rows

    def _merge_family(self, root: Table, family: Sequence[Table], batch: Batch) -> dict[str, int]:
        """A root table and its children. Of an object that occurs several times the newest occurrence counts."""
        files = {table.slug: self._files(table, batch) for table in family}
        if not files[root.slug]:
            orphans = [slug for slug in files if files[slug]]
            if orphans:
                raise CountsDisagreeError(f"Rows of {', '.join(orphans)} came without any row of {root.name}.")
            return {}
        winners = self._find_winners(root, files[root.slug])
        earlier = self._earlier_windows(batch)
        filling = Filling(self._connection, root, family, self._narrow)
        filling.keep_stored()
        rows = {}
        for table in family:
            self._count_parquet(table, batch)
            back = [file for window in earlier for file in window.files(self._parquet, table.slug)]
            rows[table.slug] = self._replace(table, [*files[table.slug], *back])
        filling.fill_winners()
        filling.fill_from_late(files, narrowing(self._narrow.get(batch[0][0].id, ())))
        if rows[root.slug] != winners:
            raise CountsDisagreeError(
                f"{winners} rows of {root.name} were to take effect and {rows[root.slug]} would: one is twice. Nothing "
                "was merged; this is a defect of wms-sync: keep the raw pages and report it."
            )
        return rows

    def _files(self, table: Table, batch: Batch) -> list[str]:
        return [file for _, flattened in batch for file in flattened.files(self._parquet, table.slug)]

    def _find_winners(self, root: Table, files: Sequence[str]) -> int:
        """How many objects take effect; temporary table ``winners`` says on which page of which window each stood."""
        self._connection.execute(_about(root, "contest"), {"files": files})
        winners = _changed(self._connection.execute(sql_files.read("merge/winners.sql")))
        query = "select min(first_read), count(*) filter (went_back) from contest where outcome = 'doubtful'"
        ((first_read, went_back),) = self._connection.execute(query).fetchall()
        if first_read is None:
            return winners
        self.voided[root.slug] += went_back
        seen = [file for window in self._merged() for file in window.files(self._parquet, root.slug)]
        settled = self._connection.execute(_about(root, "settled"), {"files": seen, "first_read": first_read})
        return winners + _changed(settled)

    def _merged(self) -> Iterator[FlattenedWindow]:
        """Every window that has a receipt, those of the batch too, as far as its Parquet files are there."""
        for window_id in sorted(receipts(self._connection)):
            if is_flattened(self._layout, window_id):
                yield flattened_window(self._layout, window_id)

    def _earlier_windows(self, batch: Batch) -> list[FlattenedWindow]:
        """The windows merged before from which a version comes back."""
        query = "select distinct _window_id from winners where _window_id not in (select unnest(?)) order by all"
        rows = self._connection.execute(query, [[window.id for window, _ in batch]]).fetchall()
        return [flattened_window(self._layout, window_id) for (window_id,) in rows]

    def _replace(self, table: Table, files: Sequence[str]) -> int:
        root_key = quote(table.root_key)
        self._connection.execute(sql_files.read("merge/delete.sql").format(table=table.qualified, root_key=root_key))
        if not files:
            return 0
        columns = ", ".join(quote(column) for column in table.column_names)
        statement = sql_files.read("merge/insert.sql").format(table=table.qualified, columns=columns, root_key=root_key)
        return _changed(self._connection.execute(statement, {"files": files}))

    def _append(self, table: Table, batch: Batch) -> int:
        """Rows about a window itself: replaced with the window."""
        self._count_parquet(table, batch)
        windows = [window.id for window, _ in batch]
        self._connection.execute(f"delete from {table.qualified} where _window_id in (select unnest(?))", [windows])
        files = self._files(table, batch)
        if not files:
            return 0
        return _changed(
            self._connection.execute(
                f"insert into {table.qualified} by name select * from read_parquet(?, union_by_name = true)", [files]
            )
        )

    def _count_parquet(self, table: Table, batch: Batch) -> None:
        """The files must hold the rows that were flattened, window by window."""
        expected = {window.id: flattened.rows.get(table.slug, 0) for window, flattened in batch}
        files = self._files(table, batch)
        counted = {}
        if files:
            query = "select _window_id, count(*) from read_parquet(?) group by all"
            counted = dict(self._connection.execute(query, [files]).fetchall())
        wrong = [window for window, rows in expected.items() if counted.get(window, 0) != rows]
        if wrong:
            raise CountsDisagreeError(
                f"The Parquet files of {table.slug} hold {counted.get(wrong[0], 0)} rows of window {wrong[0]} where "
                f"{expected[wrong[0]]} were flattened. Nothing was merged; `wms-sync rebuild` makes them again."
            )

    def _write_receipt(self, window: Window, flattened: FlattenedWindow) -> None:
        """In place of the one that it may have from before it was flattened again."""
        self._connection.execute("delete from ops.loads where window_id = ?", [window.id])
        receipt = {
            "window_id": window.id,
            "from_at": window.from_at,
            "to_at": window.to_at,
            "reason": window.reason,
            "run_id": window.run_id,
            "load_run_id": self._run_id,
            "pages": window.pages,
            "records": window.records,
            "quarantined": flattened.quarantined,
            "rows_flattened": sum(flattened.rows.values()),
            "loaded_at": datetime.now(UTC),
        }
        self._connection.execute(sql_files.read("merge/receipt.sql"), receipt)


def _refuse_loss(window: Window, flattened: FlattenedWindow) -> None:
    if flattened.records not in {None, window.records}:
        raise CountsDisagreeError(
            f"The pages of window {window.id} hold {window.records} shipments, and {flattened.records} came out of "
            "them. Nothing was merged; `wms-sync rebuild` flattens them again."
        )


@contextmanager
def _transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _about(root: Table, statement: str) -> str:
    return sql_files.read(f"merge/{statement}.sql").format(
        table=root.qualified, key=quote(root.root_key), newer=quote(root.newer or "_extracted_at")
    )


def _changed(result: duckdb.DuckDBPyConnection) -> int:
    row = result.fetchone()
    return int(row[0]) if row else 0
