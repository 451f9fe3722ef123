"""The shape of a page: the types of ``sql/types`` as a tree that the gate and the repair walk.

DuckDB is asked for the types, so that they are written once. A node is a value, a list or an object; an object knows
its kind (``Order``) when it is one of those under ``included``, and whether a row could be made of it without an id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

import duckdb
from duckdb.sqltypes import DuckDBPyType

from wms_sync import sql_files
from wms_sync.catalogue import quote

ENVELOPE = ("collection", "included", "has_more", "next", "previous", "meta")
PRODUCTS = (
    "Product",
    "PackagingContainer",
    "PackagingDataCollection",
    "PackagingInfill",
    "PackagingInstruction",
    "PackagingSupplies",
)
"""Kinds whose rows are in one table, under one key: they have their ids together."""
# Stand inline, under ``included``, or partly in each.
_IN_TWO_PLACES = (
    "gallery_item",
    "order_address",
    "order_address_candidate",
    "order_instruction",
    "order_item",
    "order_status_history",
    "shipment_item",
    "shipment_package",
    "shipment_package_item",
    "shipment_packing_solution",
)
# Their id is the key of a row, wherever they stand.
_KEYED_BY_ID = {"Gallery", "GalleryItem", "OrderItem", "ShipmentItem"}


@dataclass(frozen=True)
class Value:
    """A leaf; ``type`` is DuckDB's name: BIGINT, BOOLEAN, DECIMAL(18,4), DOUBLE, DATE, VARCHAR, JSON...

    ``name`` is the path of keys from the object that has a kind: ``Order.weight.unit``.
    """

    type: str
    name: str


@dataclass(frozen=True)
class Many:
    """A list of one sort of element."""

    element: Node


@dataclass(frozen=True)
class Thing:
    """An object with known keys; ``name`` is its kind, or the path of keys from the object that has one."""

    name: str
    keyed: bool
    fields: Mapping[str, Node] = field(hash=False)

    @property
    def is_measure(self) -> bool:
        """Whether it is a number with its unit, and would be as much without."""
        return self.fields.keys() == {"value", "unit"}

    @property
    def is_kind(self) -> bool:
        """Whether it is an object of the service's own, and not a part of one."""
        return "." not in self.name


Node = Value | Many | Thing


@dataclass(frozen=True)
class Shape:
    """What may stand under ``collection``, and under each kind of ``included``."""

    collection: Many
    included: Mapping[str, Node]


def create_types(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the named types of ``sql/types``, and the macros that complete an object by its other occurrence."""
    for path in sql_files.listed("types"):
        connection.execute(sql_files.read(path))
    _create_macros(connection)


def _create_macros(connection: duckdb.DuckDBPyConnection) -> None:
    statement = sql_files.read("flatten/page/completed.sql")
    structs = connection.sql(f"select {', '.join(f'null::{name}' for name in _IN_TWO_PLACES)}").types
    for name, struct in zip(_IN_TWO_PLACES, structs, strict=True):
        fields = (quote(field) for field, _ in _children(struct))
        completed = ", ".join(f"{field} := coalesce(preferred.{field}, other.{field})" for field in fields)
        connection.execute(statement.format(type=name, fields=completed))


def shape_of(connection: duckdb.DuckDBPyConnection) -> Shape:
    """The shape of a page, from the types ``shipment`` and ``included``."""
    shipment, included = connection.sql("select null::shipment, null::included").types
    of_kinds = dict(_children(included))
    kinds = {str(of_list): name for name, of_list in of_kinds.items()} | {f"{shipment}[]": "Shipment"}
    return Shape(
        collection=Many(_thing(shipment, "Shipment", kinds, keyed=True)),
        included={name: _included(of_list, name, kinds) for name, of_list in of_kinds.items()},
    )


def _included(of_list: DuckDBPyType, name: str, kinds: Mapping[str, str]) -> Node:
    if of_list.id != "list":
        return _node(of_list, name, kinds)
    return Many(_thing(_children(of_list)[0][1], name, kinds, keyed=True))


def _node(duckdb_type: DuckDBPyType, name: str, kinds: Mapping[str, str]) -> Node:
    if duckdb_type.id == "list":
        return Many(_node(_children(duckdb_type)[0][1], name, kinds))
    if duckdb_type.id == "struct":
        kind = kinds.get(f"{duckdb_type}[]")
        return _thing(duckdb_type, kind or name, kinds, keyed=kind in _KEYED_BY_ID)
    return Value(str(duckdb_type), name)


def _thing(duckdb_type: DuckDBPyType, name: str, kinds: Mapping[str, str], *, keyed: bool) -> Thing:
    fields = {key: _node(child, f"{name}.{key}", kinds) for key, child in _children(duckdb_type)}
    return Thing(name, keyed, fields)


def _children(duckdb_type: DuckDBPyType) -> list[tuple[str, DuckDBPyType]]:
    return cast(list[tuple[str, DuckDBPyType]], duckdb_type.children)
