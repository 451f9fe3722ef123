"""Merge flattened windows into the tables: the newest version wins, and a receipt commits in the same transaction.

The versions of an object have one total order, which does not depend on the order in which windows arrive. Versions
from before the last audit or backfill of the object are void, which repairs an ``updated_at`` that moved back. Among
the other versions the newest (by ``updated_at``, then ``_extracted_at``) takes effect. A version whose ``updated_at``
is null ranks ``SETTLING`` before its read. An object's children are replaced with it. The rows are counted at each
step; if the counts differ, the transaction is rolled back.

Usually a version that is read later is not older, and a comparison with the stored version is enough. If it is older, a
version that lost earlier may win: these few objects are looked up in the Parquet files of all merged windows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Table, history_tables, literal, quote, tables
from wms_sync.grammar import count_of
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import (
    FlattenedWindow,
    WindowGroup,
    chosen_rows,
    files_of,
    flattened_window,
    merged_windows,
)
from wms_sync.shipments.load.filling import Filling
from wms_sync.shipments.load.history import Keeper
from wms_sync.shipments.load.omitted import Omitted, omitted_data
from wms_sync.state.store import Window
from wms_sync.targets.database import Session
from wms_sync.targets.errors import CountsDisagreeError

PERSONAL = "pii"
OPERATIONS = "ops"


class _Outcome(Struct, frozen=True):
    """The result for one root table: the number of winners, and of objects that moved back to an earlier version.

    ``first_read`` is the time of the earliest read of any object whose winning version could not be determined; None if
    there is none.
    """

    winners: int
    first_read: datetime | None
    went_back: int


class Merger:
    """Merges windows in one session of a load.

    ``omitted`` is the data that each window omits. ``voided`` counts, by table, the objects that moved back to an
    earlier ``updated_at`` in an audit or a backfill.
    """

    def __init__(
        self,
        session: Session,
        layout: Layout,
        *,
        run_id: str,
        include_addresses: bool,
        omitted: Omitted,
    ) -> None:
        self.voided: Counter[str] = Counter()
        self._session = session
        self._connection = session.connection
        self._layout = layout
        self._run_id = run_id
        self._omitted = omitted
        self._stored = stored = [table for table in tables() if include_addresses or table.schema != PERSONAL]
        self._families = [
            (root, [table for table in stored if table.root == root.name])
            for root in stored
            if root.is_root and root.schema != OPERATIONS
        ]
        self._keepers = {
            history.name: Keeper(self._connection, layout, history, omitted) for history in history_tables()
        }
        self._by_window = [table for table in stored if table.schema == OPERATIONS]

    def merge(self, group: WindowGroup) -> dict[str, int]:
        """Merge windows in one transaction, with a receipt each; return the number of rows written by table.

        All windows of a group must omit the same data. Raise ``CountsDisagreeError`` if the counts of rows differ; then
        no window of the group is merged.
        """
        rows: dict[str, int] = {}
        with self._session.transaction():
            for window, flattened in group:  # receipts first: the queries below need the reason of each window
                if flattened.records != window.records:
                    raise CountsDisagreeError(
                        f"The pages of window {window.id} have {count_of(window.records, 'shipment')}, but "
                        f"flattening produced {flattened.records}. Nothing was merged; run `wms-sync rebuild` to "
                        "flatten them again."
                    )
                self._write_receipt(window, flattened)
            self._count_parquet(group)
            outcomes = self._contest(group)
            for root, family in self._families:
                rows |= self._merge_family(root, family, group, outcomes.get(root.name))
            for table in self._by_window:
                rows[table.slug] = self._append(table, group)
        return rows

    def _contest(self, group: WindowGroup) -> dict[str, _Outcome]:
        """Fill the temporary table ``contest`` with the best versions of this group; return the outcome by root."""
        files = {root.name: files for root, _ in self._families if (files := files_of(group, self._layout, root.slug))}
        if not files:
            return {}
        roots = [root for root, _ in self._families if root.name in files]
        parts = {
            name: "\n    union all\n".join(_about(root, name, files=root.name) for root in roots)
            for name in ("occurrences", "stored")
        }
        self._connection.execute(sql_files.read("merge/contest.sql").format(**parts), files)
        found = self._connection.execute(sql_files.read("merge/outcomes.sql")).fetchall()
        return {root: _Outcome(*outcome) for root, *outcome in found}

    def _merge_family(
        self, root: Table, family: Sequence[Table], group: WindowGroup, outcome: _Outcome | None
    ) -> dict[str, int]:
        """Merge a root table and its children. If an object occurs several times, the newest occurrence counts."""
        files = {table.slug: files_of(group, self._layout, table.slug) for table in family}
        if outcome is None:
            orphans = [slug for slug in files if files[slug]]
            if orphans:
                raise CountsDisagreeError(f"There are rows of {', '.join(orphans)}, but no row of {root.name}.")
            return {}
        winners, earlier = self._find_winners(root, outcome, group)
        filling = Filling(self._connection, root, family, self._omitted)
        filling.keep_stored()
        if root.name in self._keepers:
            self._keepers[root.name].take_in(files[root.slug])
        rows = {}
        for table in family:
            back = [file for window in earlier for file in window.files(self._layout, table.slug)]
            rows[table.slug] = self._replace(table, [*files[table.slug], *back])
        filling.fill_winners()
        filling.fill_from_late(files, omitted_data(self._omitted.get(group[0][0].id, ())))
        if rows[root.slug] != winners:
            raise CountsDisagreeError(
                f"{count_of(winners, 'row')} of {root.name} should take effect, but {rows[root.slug]} would: rows are "
                "duplicated or lost. Nothing was merged. This is a bug in wms-sync: keep the raw pages and report it."
            )
        return rows

    def _find_winners(
        self, root: Table, outcome: _Outcome, group: WindowGroup
    ) -> tuple[int, Sequence[FlattenedWindow]]:
        """Fill the temporary table ``winners`` with the versions that take effect.

        A row has the page and window of the version. Return the number of rows, and the earlier windows with a version
        that wins again.
        """
        self._connection.execute(_about(root, "winners"))
        if outcome.first_read is None:
            return outcome.winners, ()
        self.voided[root.slug] += outcome.went_back
        merged = merged_windows(self._connection, self._layout)
        seen = [file for window in merged for file in window.files(self._layout, root.slug)]
        settled = self._connection.execute(_about(root, "settled"), {"files": seen, "first_read": outcome.first_read})
        return outcome.winners + _changed(settled), self._earlier_windows(group)

    def _earlier_windows(self, group: WindowGroup) -> list[FlattenedWindow]:
        """Return the earlier windows with a version that wins again."""
        query = "select distinct _window_id from winners where _window_id not in (select unnest(?)) order by all"
        rows = self._connection.execute(query, [[window.id for window, _ in group]]).fetchall()
        return [flattened_window(self._layout, window_id) for (window_id,) in rows]

    def _replace(self, table: Table, files: Sequence[str]) -> int:
        root_key = quote(table.root_key)
        delete = sql_files.read("merge/delete.sql").format(table=table.qualified, root_key=root_key)
        self._connection.execute(delete)
        if not files:
            return 0
        statement = f"insert into {table.qualified} by name {chosen_rows(table, 'winners')}"
        return _changed(self._connection.execute(statement, {"files": files}))

    def _append(self, table: Table, group: WindowGroup) -> int:
        """Replace the rows of a table about the windows themselves, such as ``ops.quarantine``."""
        windows = [window.id for window, _ in group]
        self._connection.execute(f"delete from {table.qualified} where _window_id in (select unnest(?))", [windows])
        files = files_of(group, self._layout, table.slug)
        if not files:
            return 0
        return _changed(
            self._connection.execute(
                f"insert into {table.qualified} by name select * from read_parquet(?, union_by_name = true)", [files]
            )
        )

    def _count_parquet(self, group: WindowGroup) -> None:
        """Raise ``CountsDisagreeError`` if a window's files do not have as many rows as were flattened."""
        files = {table.slug: files for table in self._stored if (files := files_of(group, self._layout, table.slug))}
        counts = (
            f"select {literal(slug)}, _window_id, count(*) from read_parquet(${slug}) group by all" for slug in files
        )
        counted: dict[tuple[str, str], int] = {}
        if files:
            rows = self._connection.execute("\nunion all\n".join(counts), files).fetchall()
            counted = {(slug, window): count for slug, window, count in rows}
        for table in self._stored:
            for window, flattened in group:
                held, expected = counted.get((table.slug, window.id), 0), flattened.rows.get(table.slug, 0)
                if held != expected:
                    raise CountsDisagreeError(
                        f"The Parquet files of {table.slug} have {count_of(held, 'row')} of window {window.id}, but "
                        f"{expected} were flattened. Nothing was merged; run `wms-sync rebuild` to rewrite them."
                    )

    def _write_receipt(self, window: Window, flattened: FlattenedWindow) -> None:
        """Write the window's receipt, which replaces an earlier receipt."""
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


def _about(root: Table, statement: str, **parts: str) -> str:
    return sql_files.read(f"merge/{statement}.sql").format(
        table=root.qualified, name=literal(root.name), key=quote(root.root_key), version=root.version, **parts
    )


def _changed(result: duckdb.DuckDBPyConnection) -> int:
    row = result.fetchone()
    return int(row[0]) if row else 0
