"""Keep stored values that a narrowed window could not bring: its columns keep their values and child rows stay.

Merging replaces whole rows and sets of children. If a window was read without some fields, the stored rows are first
copied aside. After the merge, the values that the window lacks are filled in from these copies, by key. The reverse
case is handled too: an older version that arrives late may fill what the stored, newer version was read without.

Some keys are only a position in a list, which does not prove that two rows are the same thing. For these, ``SAME``
names columns that must not contradict each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Table, quote, table
from wms_sync.privacy.fields import ADDRESS_KEPT, SHIP_TO
from wms_sync.service.selection import Kind, Parameter, expanded, parameters
from wms_sync.shipments.load.parquet import chosen_rows

Files = Mapping[str, Sequence[str]]
"""Parquet files by ``Table.slug``."""

ALSO = {"order_address_candidates": ("pii_order_address_candidates",)}
"""Tables that hold further columns of the same rows."""
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
ADDRESS = "fields:order.shipping_address"
SHIPPING = frozenset({"fields:order", "fields:order=shipping_address", ADDRESS})
"""Without any of these, nothing of a shipping address comes."""
SETS = {"pii_order_addresses": ("order_id", "role")}
"""The columns that identify a set of children, if they are not the root's key."""


class Narrowing(Struct, frozen=True):
    """What did not come: ``columns`` by table, and ``sets``, the tables whose sets of children may be absent."""

    columns: Mapping[str, frozenset[str]]
    sets: frozenset[str]

    def touches(self, family: Iterable[Table]) -> bool:
        """Return whether anything of these tables did not come."""
        return any(member.slug in self.columns or member.slug in self.sets for member in family)

    def beyond(self, other: Narrowing) -> Narrowing:
        """Return what did not come here but did come in the other."""
        columns = {slug: left for slug, names in self.columns.items() if (left := names - other.columns_of(slug))}
        return Narrowing(columns, self.sets - other.sets)

    def columns_of(self, slug: str) -> frozenset[str]:
        """Return the columns of a table that did not come."""
        return self.columns.get(slug, frozenset())


@cache
def narrowing(lost: tuple[str, ...]) -> Narrowing:
    """Translate what a window did not ask for, in the form of ``Selection.lost``, into tables and columns."""
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
        if ship_to := _ship_to(expanded(lost)):
            columns["orders"] = columns.get("orders", frozenset()) | ship_to
    return Narrowing(columns, frozenset(sets))


def _ship_to(lost: frozenset[str]) -> frozenset[str]:
    """Return the columns of ``orders`` that are taken from the shipping address, as far as they did not come."""
    whole = not SHIPPING.isdisjoint(lost)
    return frozenset(
        column for name, column in zip(ADDRESS_KEPT, SHIP_TO, strict=True) if whole or f"{ADDRESS}={name}" in lost
    )


def _fields_lost(places: Sequence[Parameter], lost: frozenset[str]) -> frozenset[str]:
    """Return the fields of a kind that did not come.

    Objects of a shared kind come only from the places that ask for them; objects of other kinds always come in part.
    """
    asked = [one for one in places if one.name not in lost]
    bringing = asked if places[0].kind.shared and asked else places
    return frozenset(
        field for one in bringing for field in one.kind.fields if one.name in lost or f"{one.name}={field}" in lost
    )


def _columns(of: Table, kind: Kind, fields: frozenset[str]) -> Iterator[str]:
    """Yield the columns that hold these fields or parts of them.

    The column that ranks versions is left out: taken from another version it would rank this one wrongly.
    """
    for name in of.column_names:
        owners = [field for field in kind.fields if name == field or name.startswith(f"{field}_")]
        if owners and max(owners, key=len) in fields and name not in (*of.keys, of.newer):
            yield name


class Filling:
    """Fills what did not come for one root table and its children, from copies of rows.

    Used inside the merge's transaction. ``narrow`` says by window what it lacks.
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
        """Copy aside the rows that the winners are about to replace, if any winner's window was narrowed."""
        if not self._windows:
            return
        rows = self._connection.execute("select distinct _window_id from winners").fetchall()
        winning = {window for (window,) in rows}
        self._won = [lost for lost, windows in self._windows.items() if not winning.isdisjoint(windows)]
        if self._won:
            for member in self._family:
                self._execute("kept_rows", member)

    def fill_winners(self) -> None:
        """Fill what the winners, which are stored by now, did not bring from the copied rows."""
        for lost in self._won:
            self._choose("winners", self._windows[lost])
            self._fill(narrowing(lost))
        if self._won:
            self._drop_kept()

    def fill_from_late(self, files: Files, late: Narrowing) -> None:
        """Fill what a stored version lacks from an older version that arrived after it in a window that lacks less."""
        for lost, windows in self._windows.items():
            fuller = narrowing(lost).beyond(late)
            if fuller.touches(self._family) and self._keep_late(files, windows):
                self._choose("late", None)
                self._fill(fuller)
                self._drop_kept()

    def _keep_late(self, files: Files, windows: Sequence[str]) -> bool:
        """Copy aside the late rows of objects whose stored version is of these windows; return whether any exist."""
        given = {"files": files[self._root.slug], "narrow": windows}
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
        """Write the keys of the objects to fill next into the temporary table ``narrow_roots``."""
        where = "" if windows is None else " where _window_id in (select unnest(?))"
        self._connection.execute(
            f"create or replace temp table narrow_roots as select key from {source}{where}",
            None if windows is None else [windows],
        )

    def _fill(self, lacking: Narrowing) -> None:
        """Fill columns and restore sets of children, parents before children."""
        for member in self._family:
            self._fill_member(member, lacking)

    def _fill_member(self, member: Table, lacking: Narrowing) -> None:
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
    ) -> duckdb.DuckDBPyConnection:
        statement = sql_files.read(f"merge/{name}.sql").format(
            table=member.qualified, kept=_kept(member), root_key=quote(member.root_key), **identifiers
        )
        return self._connection.execute(statement, values or {})


def _below(member: Table) -> str:
    """Return a join that requires the parent row to exist and to be still the same thing; the root always is."""
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
    """Return the condition that two rows have the same key and do not contradict each other in ``SAME``."""
    keys = [f"{one}.{quote(key)} = {other}.{quote(key)}" for key in member.keys]
    agreeing = [f"coalesce({one}.{quote(name)} = {other}.{quote(name)}, true)" for name in SAME.get(member.slug, ())]
    return " and ".join(keys + agreeing)


def _kept(member: Table) -> str:
    return quote(f"kept_{member.slug}")
