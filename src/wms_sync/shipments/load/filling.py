"""Keep stored values that a window omits: omitted columns keep their values, and omitted child rows stay.

Merging replaces whole rows and sets of children. If a window omits data, the stored rows are first copied. After the
merge, the omitted values are filled in from these copies, by key. The reverse case is handled too: an older version
that arrives late may fill in values that the window of the stored, newer version omits.

Some keys are only a position in a list, which does not prove that two rows are the same object. For tables with such
keys, ``Table.same`` names columns whose values must not contradict each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote, table
from wms_sync.shipments.flatten.window import chosen_rows
from wms_sync.shipments.load.omitted import Omitted, OmittedData, omitted_data

Files = Mapping[str, Sequence[str]]
"""Parquet files by ``Table.slug``."""

SETS = {"pii_order_addresses": ("order_id", "role")}
"""The columns that identify a set of children, if they are not the root's key."""


class Filling:
    """Fills omitted values of one root table and its children from copies of rows.

    Used inside the merge's transaction.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        root: Table,
        family: Sequence[Table],
        omitted: Omitted,
    ) -> None:
        self._connection = connection
        self._root = root
        self._family = family
        self._windows: dict[tuple[str, ...], list[str]] = {}
        for window, names in omitted.items():
            if omitted_data(names).touches(family):
                self._windows.setdefault(names, []).append(window)
        self._won: list[tuple[str, ...]] = []

    def keep_stored(self) -> None:
        """Copy the rows that the winners are about to replace, if the window of any winner omits data."""
        if not self._windows:
            return
        rows = self._connection.execute("select distinct _window_id from winners").fetchall()
        winning = {window for (window,) in rows}
        self._won = [names for names, windows in self._windows.items() if not winning.isdisjoint(windows)]
        if self._won:
            for member in self._family:
                self._execute("kept_rows", member)

    def fill_winners(self) -> None:
        """Fill the omitted values of the winners, which are now stored, from the copied rows."""
        for names in self._won:
            self._choose("winners", self._windows[names])
            self._fill(omitted_data(names))
        if self._won:
            self._drop_kept()

    def fill_from_late(self, files: Files, late: OmittedData) -> None:
        """Fill stored versions from older versions that arrived later, in windows that omit less (``late``)."""
        for names, windows in self._windows.items():
            fuller = omitted_data(names).beyond(late)
            if fuller.touches(self._family) and self._keep_late(files, windows):
                self._choose("late", None)
                self._fill(fuller)
                self._drop_kept()

    def _keep_late(self, files: Files, windows: Sequence[str]) -> bool:
        """Copy the late rows of objects whose stored version is from these windows; return whether any exist."""
        given = {"files": files[self._root.slug], "omitting": windows}
        found = self._execute("late", self._root, given, version=self._root.version).fetchone()
        if not found or not found[0]:
            return False
        for member in self._family:
            if files[member.slug]:
                rows = chosen_rows(member, "late")
                copied = f"create or replace temp table {_kept(member)} as {rows}"
                self._connection.execute(copied, {"files": files[member.slug]})
            else:
                empty = f"create or replace temp table {_kept(member)} as from {member.qualified} limit 0"
                self._connection.execute(empty)
        return True

    def _choose(self, source: str, windows: Sequence[str] | None) -> None:
        """Write the keys of the objects to fill next into the temporary table ``filled_roots``."""
        where = "" if windows is None else " where _window_id in (select unnest(?))"
        self._connection.execute(
            f"create or replace temp table filled_roots as select key from {source}{where}",
            None if windows is None else [windows],
        )

    def _fill(self, omitted: OmittedData) -> None:
        """Fill columns and restore sets of children, parents before children."""
        for member in self._family:
            self._fill_member(member, omitted)

    def _fill_member(self, member: Table, omitted: OmittedData) -> None:
        columns = omitted.columns_of(member.slug)
        if columns:
            self._execute(
                "fill",
                member,
                columns=", ".join(
                    f"{quote(name)} = coalesce(present.{quote(name)}, kept.{quote(name)})"
                    for name in member.column_names
                    if name in columns
                ),
                same=_same(member, "present", "kept"),
            )
        if member.slug in omitted.sets and not member.is_root:
            self._execute(
                "stay",
                member,
                columns=", ".join(map(quote, member.column_names)),
                kept_columns=", ".join(f"kept.{quote(name)}" for name in member.column_names),
                set_keys=", ".join(map(quote, SETS.get(member.slug, (member.root_key,)))),
                below=_below(member),
            )

    def _drop_kept(self) -> None:
        for member in self._family:
            self._connection.execute(f"drop table {_kept(member)}")

    def _execute(
        self, name: str, member: Table, values: Mapping[str, object] | None = None, /, **identifiers: str
    ) -> duckdb.DuckDBPyConnection:
        statement = sql_files.read(f"merge/{name}.sql").format(
            table=member.qualified, kept=_kept(member), root_key=quote(member.root_key), **identifiers
        )
        return self._connection.execute(statement, values or {})


def _below(member: Table) -> str:
    """Return a join that requires the parent row to exist and be the same object; empty if the parent is the root."""
    if member.parent in {None, member.root}:
        return ""
    parent = table(member.parent)
    keys = zip(parent.keys, member.parent_key, strict=True)
    on = " and ".join(f"kept.{quote(own)} = parent.{quote(key)}" for key, own in keys)
    return (
        f"semi join (select present.* from {parent.qualified} as present inner join {_kept(parent)} as was "
        f"on {_same(parent, 'present', 'was')}) as parent on {on}"
    )


def _same(member: Table, left: str, right: str) -> str:
    """Return the condition that two rows have the same key and do not contradict each other in ``same``."""
    keys = [f"{left}.{quote(key)} = {right}.{quote(key)}" for key in member.keys]
    agreeing = [f"coalesce({left}.{quote(name)} = {right}.{quote(name)}, true)" for name in member.same]
    return " and ".join(keys + agreeing)


def _kept(member: Table) -> str:
    return quote(f"kept_{member.slug}")
