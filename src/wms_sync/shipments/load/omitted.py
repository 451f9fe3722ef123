"""The data that a window omits, and ``ops.omitted``, which lists it by window.

A window omits data that was not requested because the service refuses it; the read records this with the window. It
also omits objects that were requested but not sent: a service that ignores field selection, or leaves ``included`` out,
reports no error. So the references in the rows of a window are compared with the received objects, in the window's own
Parquet files. And it omits a list whose key no object of the window has: a service leaves it out if the token may not
read it. A window does not update data that it omits (``filling``, ``history``).

Data is named as in ``Selection.omitted``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import Table, literal, quote, table, tables
from wms_sync.grammar import count_of
from wms_sync.layout import Layout
from wms_sync.privacy.fields import CANDIDATE_KEPT, SHIP_TO
from wms_sync.service.selection import PREFIX, ObjectList, RequestedKind, data_of, object_lists, parameters
from wms_sync.shipments.flatten.window import WindowGroup, files_of, rows_in_files
from wms_sync.state.store import Window
from wms_sync.targets.database import records, replace_rows, stored_rows

Omitted = Mapping[str, tuple[str, ...]]
"""The names of the data that each window omits, by window id."""
PERSONAL = "pii"
"""The schema of personal data; among the omitted data of a window, all that was not requested without addresses."""
CHECK = "the_service_sent_what_was_asked_for"
ORIGINAL = "fields:order.original_address"
NOT_SENT, REFUSED = "not sent", "refused"
ALSO = {"order_address_candidates": ("pii_order_address_candidates",)}
"""By table, other tables that hold further columns of its rows."""
OF_ADDRESSES = {
    "fields:order.shipping_address": frozenset({"shipping_address_id", *SHIP_TO}),
    ORIGINAL: frozenset({"original_address_id"}),
    PERSONAL: frozenset({"original_address_id"}),
}
"""Columns of ``orders`` that arrive only if the address is requested (specification 2.5)."""


class OmittedData(Struct, frozen=True):
    """Omitted ``columns`` by table, and ``sets``: the tables in which an object may have rows that were not sent."""

    columns: Mapping[str, frozenset[str]]
    sets: frozenset[str]

    @property
    def label(self) -> str:
        """Return the omitted data as text; empty if nothing is omitted."""
        return " ".join(
            [*sorted(self.sets), *sorted(f"{slug}.{name}" for slug in self.columns for name in self.columns[slug])]
        )

    def within(self, family: Iterable[Table]) -> OmittedData:
        """Return the part of the omitted data that belongs to these tables."""
        slugs = {member.slug for member in family}
        columns = {slug: names for slug, names in self.columns.items() if slug in slugs and names}
        return OmittedData(columns, self.sets & slugs)

    def beyond(self, other: OmittedData) -> OmittedData:
        """Return the part of the omitted data that ``other`` does not omit."""
        columns = {slug: rest for slug, names in self.columns.items() if (rest := names - other.columns_of(slug))}
        return OmittedData(columns, self.sets - other.sets)

    def columns_of(self, slug: str) -> frozenset[str]:
        """Return the omitted columns of a table."""
        return self.columns.get(slug, frozenset())


@cache
def omitted_data(names: tuple[str, ...]) -> OmittedData:
    """Translate the names of omitted data into tables and columns."""
    columns: dict[str, frozenset[str]] = {}
    sets: set[str] = set()
    if names:
        everything = parameters(include_addresses=True)
        for name in dict.fromkeys(parameter.kind.table for parameter in everything):
            places = [parameter for parameter in everything if parameter.kind.table == name]
            kind = places[0].kind
            omits = [place.name in names for place in places]
            # objects of a shared kind come whole from any place that requests them; others always come, but bare
            if not (all(omits) if kind.shared else any(omits)):
                continue
            sets.update(part for parts in kind.parts.values() for part in parts)
            for slug in (name, *ALSO.get(name, ())):
                columns[slug] = frozenset(_columns(table(slug), kind))
                if not kind.shared:
                    sets.add(slug)
        for name in OF_ADDRESSES.keys() & set(names):
            columns["orders"] = columns.get("orders", frozenset()) | OF_ADDRESSES[name]
        sets.update(member.slug for member in tables() if member.schema in names)
        sets.update(slug for listed in object_lists().values() if listed.name in names for slug in listed.tables)
    return OmittedData(columns, frozenset(sets))


def _columns(of: Table, kind: RequestedKind) -> Iterator[str]:
    """Yield the columns that hold the fields of a kind or parts of them.

    The column that ranks versions is left out: with a value from another version, this version would rank wrongly.
    """
    for name in of.column_names:
        is_of_kind = any(name == field or name.startswith(f"{field}_") for field in kind.fields)
        if is_of_kind and name not in (*of.keys, of.newer):
            yield name


class OmittedName(Struct, frozen=True):
    """One row of ``ops.omitted``."""

    window_id: str
    name: str
    reason: str
    data: str
    said: str | None = None
    referring: int | None = None
    stayed: int | None = None


class _Objects(Struct, frozen=True):
    """Objects that are requested at ``path``, and the column that refers to them.

    Only the whole object fills any of the columns of ``proof``. A row is not looked at if ``unless`` is true of it.
    """

    path: str
    referring: str
    reference: str
    table: str
    proof: Sequence[str] = ("id",)
    unless: str = "false"

    @property
    def are_parts(self) -> bool:
        """Return whether the rows that refer to the objects hold the objects themselves."""
        return self.referring == self.table

    @property
    def is_there(self) -> str:
        """Return the condition that a row holds the whole object."""
        return f"coalesce({', '.join(f'{quote(column)}::varchar' for column in self.proof)}) is not null"


OBJECTS = (
    _Objects("order", "shipments", "order_id", "orders"),
    _Objects("warehouse", "shipments", "warehouse_id", "warehouses"),
    _Objects("retailer", "shipments", "retailer_id", "retailers"),
    _Objects("retailer_ship_to_location", "shipments", "retailer_ship_to_location_id", "retailer_ship_to_locations"),
    _Objects("items", "shipment_items", "id", "shipment_items", proof=("sku",)),
    _Objects("items.product", "shipment_items", "product_id", "products"),
    _Objects("packages.packaging.product", "package_packaging", "product_id", "products"),
    _Objects("order.items", "order_items", "id", "order_items", proof=("sku",)),
    _Objects("order.merchant", "orders", "merchant_id", "merchants"),
    _Objects("order.brand", "orders", "brand_id", "brands"),
    _Objects(
        "order.status_history",
        "order_status_history",
        "id",
        "order_status_history",
        proof=("status", "comment", "created_at"),
    ),
    _Objects(
        "order.instructions",
        "order_instructions",
        "id",
        "order_instructions",
        proof=("note", "file_name", "presentation", "print_target"),
    ),
    _Objects(
        "order.address_candidates",
        "order_address_candidates",
        "id",
        "order_address_candidates",
        proof=CANDIDATE_KEPT,
    ),
    _Objects(
        "order.shipping_address",
        "orders",
        "shipping_address_id",
        "orders",
        proof=SHIP_TO,
        unless="id in (select order_id from ops.forgotten_orders)",
    ),
    _Objects("gallery.items", "gallery_items", "id", "gallery_items", proof=("url", "thumbnail_url", "created_at")),
)


def record_omitted(connection: duckdb.DuckDBPyConnection, layout: Layout, group: WindowGroup) -> None:
    """Record the omitted data of these windows in ``ops.omitted``."""
    found = {
        (window.id, name): OmittedName(window.id, name, REFUSED, data_of(name), said or None)
        for window, _ in group
        for name, said in window.omitted.items()
    }
    # a service that leaves out empty lists looks the same as one that did not send them
    lists = [OmittedName(window, of.name, NOT_SENT, data_of(of.name)) for window, of in _lacking(group)]
    for row in (*_not_sent(connection, layout, group), *lists):
        found.setdefault((row.window_id, row.name), row)
    windows = {window.id for window, _ in group}
    stored = [row for row in stored_rows(connection, "omitted") if row[0] in windows]
    replace_rows(connection, "omitted", found.values(), stored)


def omitted_by_window(connection: duckdb.DuckDBPyConnection, windows: Sequence[Window]) -> dict[str, tuple[str, ...]]:
    """Return the names of the omitted data of each window, from ``ops.omitted``.

    Windows that were read without addresses omit ``PERSONAL``, unless all were: then there is none to keep.
    """
    query = "select window_id, list(name order by name) from ops.omitted group by window_id"
    omitted = {window: tuple(names) for window, names in connection.execute(query).fetchall()}
    without = [window.id for window in windows if ORIGINAL not in window.signature and ORIGINAL not in window.omitted]
    bare = without if len(without) < len(windows) else ()
    return omitted | {window: (*omitted.get(window, ()), PERSONAL) for window in bare}


def _not_sent(connection: duckdb.DuckDBPyConnection, layout: Layout, group: WindowGroup) -> Iterator[OmittedName]:
    """Yield the kinds of objects that a window requested and refers to, but of which it received none.

    If a window refers to several kinds and received none of them, all data that can be requested counts as not sent.
    """
    queries: list[str] = []
    files: dict[str, Sequence[str]] = {}
    for number, objects in enumerate(OBJECTS, start=1):
        asked = [pair for pair in group if PREFIX + objects.path not in pair[0].omitted]
        if referring := files_of(asked, layout, objects.referring):
            files[f"referring_{number}"] = referring
            queries.append(_referring(number, objects))
            if came := () if objects.are_parts else files_of(asked, layout, objects.table):
                files[f"came_{number}"] = came
                queries.append(
                    f"select _window_id, {number} as kind, id, false as refers, true as is_there "
                    f"from (\n{rows_in_files(table(objects.table), f'came_{number}')}\n) where {objects.is_there}"
                )
    if not queries:
        return
    statement = sql_files.read("merge/not_sent.sql").format(
        objects="\nunion all\n".join(queries),
        parameters=f"[{', '.join(literal(PREFIX + objects.path) for objects in OBJECTS)}]",
    )
    rows = connection.execute(statement, files).fetchall()
    for window, name, referring, _ in rows:
        yield OmittedName(window, name, NOT_SENT, data_of(name), None, referring)
    for window in {window for window, *_, nothing_came in rows if nothing_came}:
        for parameter in parameters(include_addresses=True):
            yield OmittedName(window, parameter.name, NOT_SENT, data_of(parameter.name))


def _lacking(group: WindowGroup) -> Iterator[tuple[str, ObjectList]]:
    """Yield the lists that no object of a window has, with the window's id."""
    for window, flattened in group:
        yield from ((window.id, object_lists()[name]) for name in flattened.not_sent if name in object_lists())


def record_stayed(connection: duckdb.DuckDBPyConnection, group: WindowGroup) -> None:
    """Record how many rows of each list that a window has not are older than the window's own rows: they stayed."""
    lacking: dict[ObjectList, list[str]] = {}
    for window_id, listed in _lacking(group):
        lacking.setdefault(listed, []).append(window_id)
    for listed, windows in lacking.items():
        of = table(listed.tables[0])
        root = table(of.root)
        statement = sql_files.read("merge/stayed.sql").format(
            table=of.qualified, root=root.qualified, root_key=quote(of.root_key), key=quote(root.root_key)
        )
        connection.execute(statement, {"name": listed.name, "windows": windows})


def _referring(number: int, objects: _Objects) -> str:
    """Return the query for the objects that rows refer to; for parts, the row itself proves whether they came."""
    came = objects.is_there if objects.are_parts else "false"
    return (
        f"select _window_id, {number} as kind, {quote(objects.reference)} as id, true as refers, {came} as is_there "
        f"from (\n{rows_in_files(table(objects.referring), f'referring_{number}')}\n) "
        f"where {quote(objects.reference)} is not null and not ({objects.unless})"
    )


def not_sent_lately(connection: duckdb.DuckDBPyConnection) -> Mapping[str, str]:
    """Return a sentence for each name that the latest load's windows requested and whose objects were not sent."""
    rows = records(connection.execute(sql_files.read(f"checks/{CHECK}.sql")))
    return {row["name"]: _sentence(row) for row in rows if row["reason"] == NOT_SENT}


def _sentence(row: Mapping[str, Any]) -> str:
    name = row["name"]
    if row["stayed"]:
        return (
            f"{name} was requested, but no object of the latest load has this list: "
            f"{count_of(row['stayed'], 'row')} of earlier loads stayed. Check the rights of the token."
        )
    return (
        f"{name} was requested, but the service sent none of its objects, to which "
        f"{count_of(row['referring'], 'row of the latest load refers', 'rows of the latest load refer')}. Check "
        "whether the service ignores field selection or leaves out `included`."
    )
