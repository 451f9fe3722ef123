"""Keep stored values that a window omits: omitted columns keep their values, and omitted child rows stay.

Merging replaces whole rows and sets of children. What the window of the winning version omits is filled in afterwards,
by key: from the stored rows, which are copied before they are replaced, or, if the object starts over, from the rows of
the last earlier version whose window has the data.

Some keys are only a position in a list, which does not prove that two rows are the same object. For tables with such
keys, ``Table.same`` names columns whose values must not contradict each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import duckdb

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote, table
from wms_sync.layout import Layout
from wms_sync.shipments.flatten.window import FlattenedWindow, chosen_rows
from wms_sync.shipments.load.omitted import Omitted, OmittedData, omitted_data

SETS = {"pii_order_addresses": ("order_id", "role")}
"""The columns that identify a set of children, if they are not the root's key."""


class Filling:
    """Fills omitted values of one root table and its children from copies of rows.

    Used inside the merge's transaction. ``labels`` is what each window omits of these tables, as text, without the
    windows that omit nothing of them.
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
        of_names = {names: omitted_data(names).within(family) for names in {*omitted.values()}}
        self.labels = {window: label for window, names in omitted.items() if (label := of_names[names].label)}
        self._data = {"": OmittedData({}, frozenset()), **{data.label: data for data in of_names.values()}}
        self._omitting: defaultdict[str, list[str]] = defaultdict(list)

    def keep_stored(self, windows: Collection[str]) -> None:
        """Copy the stored rows of objects that follow, if their windows of this batch omit data."""
        self._omitting.clear()
        for window in self.labels.keys() & set(windows):
            self._omitting[self.labels[window]].append(window)
        if self._omitting:
            self._choose(windows)
            for member in self._family:
                self._execute("kept_rows", member)

    def fill_followers(self) -> None:
        """Fill what the windows of the batch omit from the copies of the stored rows."""
        for label, windows in self._omitting.items():
            self._choose(windows)
            self._fill(self._data[label])

    def _choose(self, windows: Collection[str]) -> None:
        """Fill the temporary table ``filled_roots`` with the objects that follow from these windows."""
        self._connection.execute(
            sql_files.read("merge/filled_roots.sql"), {"root": self._root.name, "windows": list(windows)}
        )

    def fill_restarted(self, layout: Layout, merged: Mapping[str, FlattenedWindow]) -> None:
        """Fill what the window of an object's winning version omits, for objects that start over.

        Each part of the data comes from the last version whose window has it. Objects are filled together if their
        windows omit the same data in the same order.
        """
        given = {"windows": list(self.labels), "labels": list(self.labels.values())}
        self._execute("chains", self._root, given)
        for (chain,) in self._connection.execute("select distinct labels from chains").fetchall():
            missing = self._data[chain[0]]
            for step, label in enumerate(chain[1:], start=2):
                if (part := missing.beyond(self._data[label])).label:
                    self._copy_version(chain, step, layout, merged)
                    self._fill(part)
                missing = missing.beyond(part)

    def _copy_version(
        self, chain: Sequence[str], step: int, layout: Layout, merged: Mapping[str, FlattenedWindow]
    ) -> None:
        """Copy the rows of one version of each object of a chain: the last with the label at this step."""
        self._execute("chosen_versions", self._root, {"chain": chain, "step": step})
        self._connection.execute("create or replace temp table filled_roots as select key from chosen_versions")
        rows = self._connection.execute("select distinct _window_id from chosen_versions").fetchall()
        windows = [merged[window] for (window,) in rows]
        for member in self._family:
            files = [file for window in windows for file in window.files(layout, member.slug)]
            source = chosen_rows(member, "chosen_versions") if files else f"from {member.qualified} limit 0"
            copied = f"create or replace temp table {_kept(member)} as {source}"
            self._connection.execute(copied, {"files": files} if files else {})

    def _fill(self, omitted: OmittedData) -> None:
        """Fill columns and restore sets of children, parents before children."""
        for member in self._family:
            if columns := omitted.columns_of(member.slug):
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
    on = " and ".join(
        f"kept.{quote(own)} = parent.{quote(key)}" for key, own in zip(parent.keys, member.parent_key, strict=True)
    )
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
