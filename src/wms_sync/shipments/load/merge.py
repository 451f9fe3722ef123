"""Merge flattened windows into the tables: each object follows what is stored, or starts over.

The versions of an object have one total order, which does not depend on the order in which windows arrive. Versions
from before the last audit or backfill of the object are void, which repairs an ``updated_at`` that moved back. Among
the other versions the newest (by ``updated_at``, then ``_extracted_at``) takes effect. A version whose ``updated_at``
is null ranks ``SETTLING`` before its read. An object's children are replaced with it. The rows are counted at each
step; if the counts differ, the transaction is rolled back.

An object *follows* if all that a batch shows of it was read after what is stored and ranks after it: the batch alone
says what becomes of it. Any other object *starts over*: its rows and its history are computed from the Parquet files of
all merged windows. Both use the same statements; only the files and the objects differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from wms_sync import sql_files
from wms_sync.catalogue import Table, history_tables, literal, quote, tables
from wms_sync.grammar import count_of
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import (
    FlattenedWindow,
    WindowGroup,
    chosen_rows,
    files_of,
    merged_windows,
)
from wms_sync.shipments.load.filling import Filling
from wms_sync.shipments.load.history import HistoryWriter
from wms_sync.shipments.load.omitted import PERSONAL, Omitted, record_stayed
from wms_sync.state.store import Window
from wms_sync.targets.database import Session, number_in
from wms_sync.targets.errors import CountsDisagreeError

OPERATIONS = "ops"
FOLLOWS, CHANGES_NOTHING = "follows", "changes nothing"
"""Verdicts of ``contest.sql``; any other is the reason why an object starts over."""


class Merger:
    """Merges windows in one session of a load.

    ``omitted`` is the data that each window omits. ``verdicts`` counts the objects by root table and verdict; ``kept``
    counts the rows and the versions in history that stay although no file has them any more, by table.
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
        self.verdicts: dict[str, Counter[str]] = {}
        self.kept: Counter[str] = Counter()
        self._session = session
        self._connection = session.connection
        self._layout = layout
        self._run_id = run_id
        self._stored = stored = [table for table in tables() if include_addresses or table.schema != PERSONAL]
        self._families = [
            (root, [table for table in stored if table.root == root.name])
            for root in stored
            if root.is_root and root.schema != OPERATIONS
        ]
        self._fillings = {
            root.name: Filling(self._connection, root, family, omitted) for root, family in self._families
        }
        self._histories = {
            history.name: HistoryWriter(self._connection, history, omitted) for history in history_tables()
        }
        self._by_window = [table for table in stored if table.schema == OPERATIONS]

    def merge(self, group: WindowGroup) -> dict[str, int]:
        """Merge windows in one transaction, with a receipt each; return the number of rows written by table.

        Raise ``CountsDisagreeError`` if the counts of rows differ; then no window of the group is merged.
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
            self.verdicts = self._contest(group)
            for root, family in self._families:
                rows |= self._merge_family(root, family, group)
            for table in self._by_window:
                rows[table.slug] = self._append(table, group)
            record_stayed(self._connection, group)
        return rows

    def _contest(self, group: WindowGroup) -> dict[str, Counter[str]]:
        """Fill the temporary table ``contest`` with the best versions of this group; count the verdicts by root."""
        files = {root.name: files for root, _ in self._families if (files := files_of(group, self._layout, root.slug))}
        verdicts: dict[str, Counter[str]] = {root: Counter() for root in files}
        if files:
            roots = [root for root, _ in self._families if root.name in files]
            occurrences = (_about(root, "occurrences", files=root.name) for root in roots)
            stored = (_about(root, "stored", **self._seen(root)) for root in roots)
            union = "\n    union all\n"
            contest = sql_files.read("merge/contest.sql")
            omitting = [(root.name, *pair) for root in roots for pair in self._fillings[root.name].labels.items()]
            given = {
                "omitting_roots": [root_name for root_name, _, _ in omitting],
                "omitting_windows": [window for _, window, _ in omitting],
                "omitted": [label for _, _, label in omitting],
                "batch": [window.id for window, _ in group],
            }
            self._connection.execute(
                contest.format(occurrences=union.join(occurrences), stored=union.join(stored)), files | given
            )
            query = "select root, verdict, count(*) from contest group by all"
            for root_name, verdict, count in self._connection.execute(query).fetchall():
                verdicts[root_name][verdict] = count
        return verdicts

    def _seen(self, root: Table) -> dict[str, str]:
        """Return the expressions of ``stored.sql`` for when an object was last seen and whether it has a history."""
        if root.name not in self._histories:
            return {"last_seen": "_extracted_at", "has_history": "false"}
        past = self._histories[root.name].history.qualified
        last_seen = f"select max(last_seen_at) from {past} as past where past.id = stored.{quote(root.root_key)}"
        return {"last_seen": f"coalesce(({last_seen}), _extracted_at)", "has_history": "true"}

    def _merge_family(self, root: Table, family: Sequence[Table], group: WindowGroup) -> dict[str, int]:
        """Merge a root table and its children. If an object occurs several times, the newest occurrence counts."""
        new = {table.slug: files_of(group, self._layout, table.slug) for table in family}
        verdicts = self.verdicts.get(root.name)
        if verdicts is None:
            orphans = [slug for slug in new if new[slug]]
            if orphans:
                raise CountsDisagreeError(f"There are rows of {', '.join(orphans)}, but no row of {root.name}.")
            return {}
        self._connection.execute(_about(root, "winners"))
        winners = verdicts[FOLLOWS]
        merged: Mapping[str, FlattenedWindow] = {}
        if starting := sum(started_over(verdicts).values()):
            merged = self._merged(family)
            self._connection.execute(_about(root, "placed"), {"files": self._files(root, merged.values())})
            # from here on only the windows that show such an object: opening files is most of the cost
            query = "select distinct _window_id from placed where has_file"
            merged = {window: merged[window] for (window,) in self._connection.execute(query).fetchall()}
            restarted = number_in(self._connection.execute(sql_files.read("merge/start_over.sql")))
            self.kept[root.title] += starting - restarted
            winners += restarted
        filling = self._fillings[root.name]
        batch = {window.id for window, _ in group}
        filling.keep_stored(batch)  # before the rows are replaced
        if root.name in self._histories:
            writer = self._histories[root.name]
            self.kept[writer.history.title] += writer.take_in(new[root.slug], self._files(root, merged.values()))
        # the rows of what starts over may be in earlier windows
        query = "select distinct _window_id from winners order by all"
        won = [window for (window,) in self._connection.execute(query).fetchall() if window not in batch]
        rows = {}
        for table in family:
            rows[table.slug] = self._replace(
                table, [*new[table.slug], *self._files(table, [merged[window] for window in won])]
            )
        filling.fill_followers()
        if starting:
            filling.fill_restarted(self._layout, merged)
        if rows[root.slug] != winners:
            raise CountsDisagreeError(
                f"{count_of(winners, 'row')} of {root.name} should take effect, but {rows[root.slug]} would: rows are "
                "duplicated or lost. Nothing was merged. This is a bug in wms-sync: keep the raw pages and report it."
            )
        return rows

    def _merged(self, family: Sequence[Table]) -> dict[str, FlattenedWindow]:
        """Return the merged windows that still have all their files of these tables, by id."""
        size = self._layout.files.size
        return {
            window_id: window
            for window_id, window in merged_windows(self._connection, self._layout).items()
            if all(size(key) is not None for table in family for key in window.keys(table.slug))
        }

    def _files(self, table: Table, windows: Iterable[FlattenedWindow]) -> list[str]:
        return [file for window in windows for file in window.files(self._layout, table.slug)]

    def _replace(self, table: Table, files: Sequence[str]) -> int:
        delete = sql_files.read("merge/delete.sql").format(table=table.qualified, root_key=quote(table.root_key))
        self._connection.execute(delete)
        if not files:
            return 0
        statement = f"insert into {table.qualified} by name {chosen_rows(table, 'winners')}"
        return number_in(self._connection.execute(statement, {"files": files}))

    def _append(self, table: Table, group: WindowGroup) -> int:
        """Replace the rows of a table about the windows themselves, such as ``ops.quarantine``."""
        self._connection.execute(
            f"delete from {table.qualified} where _window_id in (select unnest(?))",
            [[window.id for window, _ in group]],
        )
        files = files_of(group, self._layout, table.slug)
        if not files:
            return 0
        return number_in(
            self._connection.execute(
                f"insert into {table.qualified} by name select * from read_parquet(?, union_by_name = true)", [files]
            )
        )

    def _count_parquet(self, group: WindowGroup) -> None:
        """Raise ``CountsDisagreeError`` if a file has, by its footer, not as many rows as were flattened into it."""
        parts: dict[str, int] = {}
        for slug, flattened in ((table.slug, flattened) for table in self._stored for _, flattened in group):
            rows = [part.rows for part in flattened.parts.get(slug, ())]
            parts |= zip(flattened.files(self._layout, slug), rows, strict=True)
        footers = "select file_name, num_rows from parquet_file_metadata(?)"
        for path, held in self._connection.execute(footers, [list(parts)]).fetchall() if parts else ():
            if held != parts[path]:
                raise CountsDisagreeError(
                    f"The Parquet file {path} has {count_of(held, 'row')}, but {parts[path]} were flattened into it. "
                    "Nothing was merged; run `wms-sync rebuild` to write it again."
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
            "quarantined": flattened.rows("ops_quarantine"),
            "rows_flattened": flattened.all_rows,
            "loaded_at": datetime.now(UTC),
        }
        self._connection.execute(sql_files.read("merge/receipt.sql"), receipt)


def started_over(verdicts: Mapping[str, int]) -> dict[str, int]:
    """Return how many objects started over, by reason."""
    return {verdict: count for verdict, count in verdicts.items() if verdict not in {FOLLOWS, CHANGES_NOTHING}}


def _about(root: Table, statement: str, **parts: str) -> str:
    return sql_files.read(f"merge/{statement}.sql").format(
        table=root.qualified, name=literal(root.name), key=quote(root.root_key), version=root.version, **parts
    )
