"""Keep schema ``history``: every received version of shipments and orders, in the transaction that merges them.

Versions have the order of ``merge``, which does not depend on the order in which windows arrive. The versions of an
object that follows are appended; if it starts over, its history is computed from the Parquet files of all merged
windows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import SETTLING, Table, literal, quote, table, tracked
from wms_sync.shipments.flatten.window import rows_in_files
from wms_sync.shipments.load.omitted import Omitted, omitted_data
from wms_sync.targets.database import number_in

FOLLOWING = "verdict = 'follows'"
STARTING = "starts_over"


class HistoryWriter:
    """Keeps the history of one root table, inside the caller's transaction.

    A tracked column that the window omits keeps the value of the previous version.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        history: Table,
        omitted: Omitted,
    ) -> None:
        self._connection = connection
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

    def take_in(self, files: Sequence[str], merged: Sequence[str]) -> int:
        """Add the versions in these Parquet files, and rewrite the history of objects that start over.

        Return the number of versions that stay although no file has them any more.
        ``merged`` are the files of all merged windows; empty if no object starts over. Call this after writing receipts
        and filling ``contest``, before replacing stored rows.
        """
        self._observe("create or replace temp table observed as", FOLLOWING, files)
        self._execute("", "latest_versions")
        kept = 0
        if merged:
            self._observe("insert into observed by name", STARTING, merged)
            kept = number_in(self._execute("", "unreadable_versions"))
        self._write(is_restarting=bool(merged))
        return kept

    def _observe(self, before: str, only: str, files: Sequence[str]) -> None:
        """Collect the occurrences of objects in these files."""
        self._execute(before, "observed", {"files": files}, only=only, incoming=rows_in_files(self._root))

    def _write(self, *, is_restarting: bool) -> None:
        """Write the observed versions. If no data is omitted, single occurrences take one step."""
        self._connection.execute(
            f"delete from {self.history.qualified} where is_current and id in (select latest.id from latest)"
        )
        if is_restarting:
            started = f"select key from contest where root = {literal(self._root.name)} and {STARTING}"
            self._connection.execute(f"delete from {self.history.qualified} where id in ({started})")
        if not self._omitting:
            parts = {
                f"{side}_columns": ", ".join(f"{side}.{quote(column)}" for column in self._tracked)
                for side in ("once", "latest")
            }
            self._execute("", "follows", {}, **parts)
            once = "select several.id from observed as several group by several.id having count(*) = 1"
            self._connection.execute(f"delete from observed where id in ({once})")
        if self._omitting or number_in(self._connection.execute("select count(*) from observed")):
            omitting = {f"omitting_{column}": windows for column, windows in self._omitting.items()}
            self._execute("", "versions", omitting, filled=",\n            ".join(map(self._filled, self._tracked)))
        self._connection.execute("drop table observed; drop table latest")

    def _filled(self, column: str) -> str:
        """Return the expression for a tracked column, filled in for windows that omit it."""
        name = quote(column)
        if column not in self._omitting:
            return f"{name} as {name}"
        return sql_files.read("merge/filled.sql").format(column=name, omitting=f"$omitting_{column}")

    def _execute(
        self, before: str, name: str, values: Mapping[str, object] | None = None, /, **parts: str
    ) -> duckdb.DuckDBPyConnection:
        statement = sql_files.read(f"merge/{name}.sql").format(
            name=literal(self._root.name),
            history=self.history.qualified,
            key=quote(self._root.root_key),
            updated_at=quote(self._root.newer or ""),
            version=self._root.version,
            settling=SETTLING,
            columns=", ".join(map(quote, self._tracked)),
            **parts,
        )
        return self._connection.execute(f"{before} {statement}", values or {})
