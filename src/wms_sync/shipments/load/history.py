"""Keep schema ``history``: every received version of shipments and orders, in the transaction that merges them.

Versions have the order of ``merge``, which does not depend on the order in which windows arrive. Usually new
occurrences follow the known ones and are appended. If they do not, the history of the object is rebuilt from the
Parquet files of all merged windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote, table, tracked
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import merged_windows, rows_in_files
from wms_sync.shipments.load.omitted import Omitted, omitted_data

OF_ALL, OF_UNORDERED = "true", "incoming.{key} in (select unordered.id from unordered)"
UNOBSERVED = OF_UNORDERED + (
    " and not exists (select 1 from observed where observed.id = incoming.{key}"
    " and observed._window_id = incoming._window_id and observed._page = incoming._page)"
)
"""The condition for the stored version of an unordered object, if no file contains that version any more."""


class Keeper:
    """Keeps the history of one root table, inside the caller's transaction.

    A tracked column that the window omits keeps the value of the previous version.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        layout: Layout,
        history: Table,
        omitted: Omitted,
    ) -> None:
        self._connection = connection
        self._layout = layout
        self.history = history
        self._root = table(history.name)
        self._tracked = tracked(history)
        self._omitting = {
            column: windows
            for column in self._tracked
            if (
                windows := [
                    window
                    for window, names in omitted.items()
                    if column in omitted_data(names).columns_of(self._root.slug)
                ]
            )
        }

    def take_in(self, files: Sequence[str]) -> None:
        """Add the versions in these Parquet files. Call this after writing receipts, before replacing stored rows."""
        self._observe("create or replace temp table observed as", OF_ALL, files)
        self._execute("", "latest_versions")
        self._execute("", "unordered")
        if self._count("unordered"):
            for temporary in ("observed", "latest"):
                self._connection.execute(f"delete from {temporary} where id in (select unordered.id from unordered)")
            self._observe_all()
        self._write()

    def _observe(self, before: str, only: str, files: Sequence[str] | None = None) -> None:
        """Collect the occurrences in these files, or in the stored table."""
        stored = f"from {self._root.qualified}"
        in_files = rows_in_files(self._root) if files else f"{stored} limit 0"
        incoming = stored if files is None else in_files
        only = only.format(key=quote(self._root.root_key))
        self._execute(before, "observed", {"files": files} if files else {}, only=only, incoming=incoming)

    def _observe_all(self) -> None:
        """Replace the history of unordered objects with the occurrences in all merged windows' files and the table."""
        self._observe("insert into observed by name", OF_UNORDERED, self._files())
        self._observe("insert into observed by name", UNOBSERVED)
        statement = f"delete from {self.history.qualified} where id in (select unordered.id from unordered)"
        self._connection.execute(statement)

    def _write(self) -> None:
        """Write the observed versions. If no data is omitted, single occurrences take one step."""
        known = "select latest.id from latest"
        self._connection.execute(f"delete from {self.history.qualified} where is_current and id in ({known})")
        if not self._omitting:
            parts = {
                f"{side}_columns": ", ".join(f"{side}.{quote(column)}" for column in self._tracked)
                for side in ("once", "latest")
            }
            self._execute("", "follows", {}, **parts)
            once = "select several.id from observed as several group by several.id having count(*) = 1"
            self._connection.execute(f"delete from observed where id in ({once})")
        if self._omitting or self._count("observed"):
            omitting = {f"omitting_{column}": windows for column, windows in self._omitting.items()}
            self._execute("", "versions", omitting, filled=",\n            ".join(map(self._filled, self._tracked)))
        self._connection.execute("drop table observed; drop table unordered; drop table latest")

    def _files(self) -> list[str]:
        """Return the paths of the Parquet files of all merged windows, except files that no longer exist."""
        windows = merged_windows(self._connection, self._layout)
        files, keys = self._layout.files, [key for window in windows for key in window.keys(self._root.slug)]
        return files.local([key for key in keys if files.size(key) is not None])

    def _filled(self, column: str) -> str:
        """Return the expression for a tracked column, filled in for windows that omit it."""
        name = quote(column)
        if column not in self._omitting:
            return f"{name} as {name}"
        return sql_files.read("merge/filled.sql").format(column=name, omitting=f"$omitting_{column}")

    def _count(self, temporary: str) -> int:
        row = self._connection.execute(f"select count(*) from {temporary}").fetchone()
        return int(row[0]) if row else 0

    def _execute(self, before: str, name: str, values: Mapping[str, object] | None = None, /, **parts: str) -> None:
        statement = sql_files.read(f"merge/{name}.sql").format(
            table=self._root.qualified,
            history=self.history.qualified,
            key=quote(self._root.root_key),
            updated_at=quote(self._root.newer or ""),
            version=self._root.version,
            columns=", ".join(map(quote, self._tracked)),
            **parts,
        )
        self._connection.execute(f"{before} {statement}", values or {})
