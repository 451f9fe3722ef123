"""What a window was not asked for touches nothing stored: its columns keep their values and its child rows stay.

Merging replaces whole rows and sets of children. Where a window was read with less than everything, what is stored is
kept aside before, and what the window could not bring is filled in from it afterwards, by key. The same is done the
other way round for a version that comes late, behind a newer one that was read narrower.

A place in a list is no proof that two rows are of one thing: where it is all that a key has, ``SAME`` names columns
that must not contradict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import duckdb

from wms_sync import sql_files
from wms_sync.api.selection import Kind, Parameter, expanded, parameters
from wms_sync.catalogue import Table, quote, table

Files = Mapping[str, Sequence[str]]
"""Parquet files by ``Table.slug``."""

ALSO = {"order_address_candidates": ("pii_order_address_candidates",)}
"""Tables that hold more columns of the same rows."""
SAME = {
    "packages": ("id", "created_at"),
    "package_items": ("id", "sku"),
    "package_packaging": ("product_id",),
    "package_collected_data": ("order_item_id", "label"),
    "packing_solutions": ("id",),
    "packing_solution_containers": ("id",),
    "packing_solution_container_items": ("sku",),
    "order_status_history": ("id", "status"),
    "order_instructions": ("id",),
    "order_address_candidates": ("id",),
    "pii_order_addresses": ("id",),
}
SETS = {"pii_order_addresses": ("order_id", "role")}
"""What makes a set where it is not the root's key."""


@dataclass(frozen=True)
class Narrowing:
    """What did not come: ``columns`` by table, and the tables of which a whole set may be lacking."""

    columns: Mapping[str, frozenset[str]]
    sets: frozenset[str]

    def touches(self, family: Iterable[Table]) -> bool:
        """Whether any table lacks something."""
        return any(member.slug in self.columns or member.slug in self.sets for member in family)

    def beyond(self, other: Narrowing) -> Narrowing:
        """What lacks here and not in the other."""
        columns = {slug: left for slug, names in self.columns.items() if (left := names - other.columns_of(slug))}
        return Narrowing(columns, self.sets - other.sets)

    def columns_of(self, slug: str) -> frozenset[str]:
        """The columns of a table that did not come."""
        return self.columns.get(slug, frozenset())


@cache
def narrowing(lost: tuple[str, ...]) -> Narrowing:
    """From what a window was not asked for, as ``Selection.lost`` tells it."""
    columns: dict[str, frozenset[str]] = {}
    sets: set[str] = set()
    if lost:
        everything = parameters(include_addresses=True)
        for name in dict.fromkeys(one.kind.table for one in everything):
            places = [one for one in everything if one.kind.table == name]
            kind = places[0].kind
            fields = _fields_lost(places, expanded(lost))
            sets.update(part for field in fields for part in kind.parts.get(field, ()))
            for slug in (name, *ALSO.get(name, ())):
                if found := frozenset(_columns(table(slug), kind, fields)):
                    columns[slug] = columns.get(slug, frozenset()) | found
                if not kind.shared and any(one.name in lost for one in places):
                    sets.add(slug)
    return Narrowing(columns, frozenset(sets))


def _fields_lost(places: Sequence[Parameter], lost: frozenset[str]) -> frozenset[str]:
    """Of a shared kind objects come only where they are asked for; of another they come in part in any case."""
    asked = [one for one in places if one.name not in lost]
    bringing = asked if places[0].kind.shared and asked else places
    return frozenset(
        field for one in bringing for field in one.kind.fields if one.name in lost or f"{one.name}={field}" in lost
    )


def _columns(of: Table, kind: Kind, fields: frozenset[str]) -> Iterator[str]:
    """The columns that hold these fields: of the field itself, or of a part of it.

    The column that ranks versions is left alone: that of another version would rank this one wrongly.
    """
    for name in of.column_names:
        owners = [field for field in kind.fields if name == field or name.startswith(f"{field}_")]
        if owners and max(owners, key=len) in fields and name not in (*of.keys, of.newer):
            yield name


class Filling:
    """Fills what did not come of one family, from rows that are kept aside. Used inside the merge's transaction.

    ``narrow`` tells of the windows that were not asked for everything what that was.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        root: Table,
        family: Sequence[Table],
        narrow: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._connection = connection
        self._root = root
        self._family = family
        self._windows: dict[tuple[str, ...], list[str]] = {}
        for window, lost in narrow.items():
            if narrowing(lost).touches(family):
                self._windows.setdefault(lost, []).append(window)
        self._won: list[tuple[str, ...]] = []

    def keep_stored(self) -> None:
        """Keep the rows aside that the winners are about to replace, where any of these was read narrower."""
        if not self._windows:
            return
        rows = self._connection.execute("select distinct _window_id from winners").fetchall()
        winning = {window for (window,) in rows}
        self._won = [lost for lost, windows in self._windows.items() if not winning.isdisjoint(windows)]
        if self._won:
            for member in self._family:
                self._execute("kept_rows", member)

    def fill_winners(self) -> None:
        """What the winners, which are stored by now, did not bring comes from what was kept aside."""
        for lost in self._won:
            self._choose("winners", self._windows[lost])
            self._fill(narrowing(lost))
        if self._won:
            self._drop_kept()

    def fill_from_late(self, files: Files, batch: Narrowing) -> None:
        """What a stored version was not asked for may be in an older one that comes behind it, in a batch of which
        less is lacking.
        """
        for lost, windows in self._windows.items():
            fuller = narrowing(lost).beyond(batch)
            if fuller.touches(self._family) and self._keep_late(files, windows):
                self._choose("late", None)
                self._fill(fuller)
                self._drop_kept()

    def _keep_late(self, files: Files, windows: Sequence[str]) -> bool:
        """Keep the rows aside that came behind a version of one of these windows; returns whether there are any."""
        late = sql_files.read("merge/late.sql").format(
            table=self._root.qualified, key=quote(self._root.root_key), newer=quote(self._root.newer or "_extracted_at")
        )
        found = self._connection.execute(late, {"files": files[self._root.slug], "narrow": windows}).fetchone()
        if not found or not found[0]:
            return False
        for member in self._family:
            if files[member.slug]:
                columns = ", ".join(map(quote, member.column_names))
                self._execute("older_rows", member, {"files": files[member.slug]}, columns=columns)
            else:
                empty = f"create or replace temp table {_kept(member)} as from {member.qualified} limit 0"
                self._connection.execute(empty)
        return True

    def _choose(self, source: str, windows: Sequence[str] | None) -> None:
        """The objects that are filled next: temporary table ``narrow_roots``."""
        where = "" if windows is None else " where _window_id in (select unnest(?))"
        self._connection.execute(
            f"create or replace temp table narrow_roots as select key from {source}{where}",
            None if windows is None else [windows],
        )

    def _fill(self, lacking: Narrowing) -> None:
        """Bring what lacks, parents before children."""
        for member in self._family:
            columns = lacking.columns_of(member.slug)
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
            if member.slug in lacking.sets and not member.is_root:
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
    ) -> None:
        statement = sql_files.read(f"merge/{name}.sql").format(
            table=member.qualified, kept=_kept(member), root_key=quote(member.root_key), **identifiers
        )
        self._connection.execute(statement, values or {})


def _below(member: Table) -> str:
    """That the parent is there and still the same thing; the root always is."""
    if member.parent in {None, member.root}:
        return ""
    parent = table(member.parent)
    keys = zip(parent.keys, member.parent_key, strict=True)
    on = " and ".join(f"kept.{quote(own)} = parent.{quote(key)}" for key, own in keys)
    return (
        f"semi join (select present.* from {parent.qualified} as present inner join {_kept(parent)} as was "
        f"on {_same(parent, 'present', 'was')}) as parent on {on}"
    )


def _same(member: Table, one: str, other: str) -> str:
    """That two rows have one key, and do not contradict each other in what tells one thing from another."""
    keys = [f"{one}.{quote(key)} = {other}.{quote(key)}" for key in member.keys]
    agreeing = [f"coalesce({one}.{quote(name)} = {other}.{quote(name)}, true)" for name in SAME.get(member.slug, ())]
    return " and ".join(keys + agreeing)


def _kept(member: Table) -> str:
    return quote(f"kept_{member.slug}")
