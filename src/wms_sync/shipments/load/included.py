"""Count whether the requested objects came: ``ops.included_kinds``, from each window's own Parquet files.

A service that ignores field selection, or leaves ``included`` out, answers as if nothing were wrong. The tables do not
show it, because they keep what came before. So the objects that a window refers to are compared with those that came in
the same window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import duckdb
from msgspec import Struct

from wms_sync import sql_files
from wms_sync.catalogue import literal, quote, table
from wms_sync.grammar import count_of
from wms_sync.layout import Layout
from wms_sync.service.selection import PREFIX, parameters
from wms_sync.shipments.flatten.window import FlattenedWindow, are_alike
from wms_sync.shipments.load.merge import WindowGroup
from wms_sync.shipments.load.parquet import rows_in_files
from wms_sync.state.store import Window
from wms_sync.targets.database import records

RECORDS_AT_ONCE = 100_000
CHECK = "most_of_what_is_referred_to_came_with_the_latest_load"


class _Kind(Struct, frozen=True):
    """A kind of object and the column that refers to it. ``proof`` is a column that only the whole object fills."""

    name: str
    path: str
    referring: str
    reference: str
    table: str
    proof: str = "id"

    @property
    def is_part(self) -> bool:
        """Return whether the rows that refer to the objects are these objects."""
        return self.referring == self.table and self.reference == "id"


KINDS = (
    _Kind("Order", "order", "shipments", "order_id", "orders"),
    _Kind("Warehouse", "warehouse", "shipments", "warehouse_id", "warehouses"),
    _Kind("Retailer", "retailer", "shipments", "retailer_id", "retailers"),
    _Kind(
        "RetailerShipToLocation",
        "retailer_ship_to_location",
        "shipments",
        "retailer_ship_to_location_id",
        "retailer_ship_to_locations",
    ),
    _Kind("ShipmentItem", "items", "shipment_items", "id", "shipment_items", proof="sku"),
    _Kind("Product", "items.product", "shipment_items", "product_id", "products"),
    _Kind("packaging", "packages.packaging.product", "package_packaging", "product_id", "products"),
    _Kind("OrderItem", "order.items", "order_items", "id", "order_items", proof="sku"),
    _Kind("Merchant", "order.merchant", "orders", "merchant_id", "merchants"),
    _Kind("Brand", "order.brand", "orders", "brand_id", "brands"),
)


def count_included(connection: duckdb.DuckDBPyConnection, layout: Layout, pending: WindowGroup) -> None:
    """Count for each window that is about to be merged; ``not_given`` derives from the counts how it is merged."""
    for part in _parts(pending):
        _count(connection, layout, part)


def _parts(pending: WindowGroup) -> Iterator[WindowGroup]:
    """Split windows into parts whose objects fit into the memory together."""
    part: list[tuple[Window, FlattenedWindow]] = []
    for window, flattened in pending:
        if part and sum(one.records for one, _ in part) + window.records > RECORDS_AT_ONCE:
            yield part
            part = []
        part.append((window, flattened))
    if part:
        yield part


def _count(connection: duckdb.DuckDBPyConnection, layout: Layout, pending: WindowGroup) -> None:
    windows = [window.id for window, _ in pending]
    alike = are_alike(flattened for _, flattened in pending)
    connection.execute("delete from ops.included_kinds where window_id in (select unnest(?))", [windows])
    objects: list[str] = []
    values: dict[str, Sequence[str]] = {}
    for number, kind in enumerate(KINDS, start=1):
        asked = [one for one in pending if PREFIX + kind.path not in one[0].lost]
        if files := _files(asked, layout, kind.referring):
            came = () if kind.is_part else _files(asked, layout, kind.table)
            values |= {f"files_{kind.name}": files} | ({f"came_{kind.name}": came} if came else {})
            objects.append(_referring(number, kind, alike=alike))
            if came:
                objects.append(_came(number, kind, alike=alike))
    if objects:
        statement = sql_files.read("merge/included_kinds.sql").format(
            objects="\nunion all\n".join(objects),
            kinds=_listed(kind.name for kind in KINDS),
            parameters=_listed(PREFIX + kind.path for kind in KINDS),
        )
        connection.execute(f"insert into ops.included_kinds\n{statement}", values)


def not_given(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, ...]]:
    """Return by window what it asked for and was not given, in the form of ``Window.lost``.

    A kind was not given if shipments refer to it and none came. If that is so for every kind, the service ignored field
    selection or left ``included`` out, and nothing that is selected was given.
    """
    rows = connection.execute(sql_files.read("merge/not_given.sql")).fetchall()
    everything = tuple(one.name for one in parameters(include_addresses=True))
    return {window: everything if nothing_came else tuple(absent) for window, absent, nothing_came in rows}


def absent_kinds(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Return a sentence for each kind that was requested and hardly came with the latest load."""
    return tuple(
        f"Of {count_of(row['objects'], 'object')} of kind {row['kind']} that the shipments read last refer to, "
        f"{row['missing']:,} did not come, though {row['parameter']} was asked for: does the service ignore field "
        "selection, or leave `included` out? If it never has them, do not ask: "
        f"WMS_OMIT_FIELDS={row['parameter'].removeprefix(PREFIX)}."
        for row in records(connection.execute(sql_files.read(f"checks/{CHECK}.sql")))
    )


def _files(group: WindowGroup, layout: Layout, slug: str) -> list[str]:
    return [file for _, flattened in group for file in flattened.files(layout, slug)]


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(literal, texts))}]"


def _referring(number: int, kind: _Kind, *, alike: bool) -> str:
    """Return the query for the objects that rows refer to; a part of an object says itself whether it came."""
    came = f"{quote(kind.proof)} is not null" if kind.is_part else "false"
    return (
        f"select _window_id, {number} as kind, {quote(kind.reference)} as id, true as refers, {came} as is_there "
        f"from (\n{rows_in_files(table(kind.referring), f'files_{kind.name}', alike=alike)}\n) "
        f"where {quote(kind.reference)} is not null"
    )


def _came(number: int, kind: _Kind, *, alike: bool) -> str:
    return (
        f"select _window_id, {number} as kind, id, false as refers, true as is_there "
        f"from (\n{rows_in_files(table(kind.table), f'came_{kind.name}', alike=alike)}\n) "
        f"where {quote(kind.proof)} is not null"
    )
