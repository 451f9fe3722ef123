"""The shape of a page: the types of ``sql/types`` as a tree that the gate and the repair walk.

The types are read back from DuckDB, so that they are written only once. A node is a value, a list or an object. An
object node has the name of its kind (``Order``) if it has a kind, and states whether it needs an id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from operator import attrgetter
from typing import Any, cast

import duckdb
from duckdb.sqltypes import DuckDBPyType
from msgspec import UNSET, Struct
from msgspec.structs import replace

from wms_sync import sql_files
from wms_sync.service.selection import object_lists

COLLECTION = "collection"
INCLUDED = "included"
SHIPMENT = "Shipment"
"""The kind of the records under ``collection``."""
ENVELOPE = (COLLECTION, INCLUDED, "has_more", "next", "previous", "meta")
PRODUCTS = (
    "Product",
    "PackagingContainer",
    "PackagingDataCollection",
    "PackagingInfill",
    "PackagingInstruction",
    "PackagingSupplies",
)
"""Kinds whose rows share one table with one key, so that ids must be unique across all of them."""
SHARED = frozenset(
    {*PRODUCTS, "Brand", "Merchant", "Retailer", "RetailerShipToLocation", "ThirdPartyBillingGroup", "Warehouse"}
)
"""Kinds that many shipments refer to: page after page repeats their objects, byte for byte."""
# Kinds whose id is the key of a row, wherever the object is on the page.
_KEYED_BY_ID = {"Gallery", "GalleryItem", "OrderItem", "ShipmentItem"}
Sent = dict[str, bool]
"""Whether any object has the key of a list, by the name of the list; without lists that no object could have."""
Route = tuple[tuple[str, bool], ...]
"""The fields to follow from an object; each is given with a flag: whether it is a list."""


class ValueNode(Struct, frozen=True):
    """A leaf; ``type`` is DuckDB's name of its type: BIGINT, BOOLEAN, DECIMAL(18,4), DOUBLE, DATE, VARCHAR, JSON...

    ``name`` is the path of keys, starting at the kind: ``Order.weight.unit``.
    """

    type: str
    name: str


class ListNode(Struct, frozen=True):
    """A list; all elements have the same shape."""

    element: Node


class ObjectNode(Struct, frozen=True):
    """An object with known keys; ``keyed`` means that it needs an id, ``has_rows`` that it becomes rows of its own.

    ``name`` is its kind, or the path of keys to it, starting at a kind.
    """

    name: str
    keyed: bool
    fields: Mapping[str, Node]
    has_rows: bool = False

    def __hash__(self) -> int:
        return hash((self.name, self.keyed))  # a mapping has no hash

    @property
    def is_measure(self) -> bool:
        """Return whether the object is a number with its unit; a bare number is accepted in its place."""
        return self.fields.keys() == {"value", "unit"}


Node = ValueNode | ListNode | ObjectNode


class Shape(Struct, frozen=True):
    """The shapes of ``collection`` and of each kind under ``included``."""

    collection: ListNode
    included: Mapping[str, Node]
    columns: Mapping[str, Mapping[str, str]]
    """The SQL type of each field, by kind."""

    @property
    def kinds(self) -> Mapping[str, Node]:
        """Return the shapes of one object of ``collection`` and of each kind that is a list under ``included``."""
        listed = {kind: node.element for kind, node in self.included.items() if isinstance(node, ListNode)}
        return {COLLECTION: self.collection.element, **listed}


def routes(node: Node, before: Route = ()) -> Iterator[tuple[Route, Node]]:
    """Yield every node inside an object with the route to it; for a list, the element's node."""
    for name, child in node.fields.items() if isinstance(node, ObjectNode) else ():
        is_list = isinstance(child, ListNode)
        inner = child.element if isinstance(child, ListNode) else child
        route = (*before, (name, is_list))
        yield route, inner
        yield from routes(inner, route)


def at_end(objects: Sequence[Any], route: Route, getter: Callable[[str], Any] = attrgetter) -> Iterable[Any]:
    """Return the value of the field at the end of the route in each object that has the field; it may be None.

    ``getter`` makes the function that returns a field of an object.
    """
    holders: Iterable[Any] = objects
    for name, is_list in route[:-1]:
        holders = filter(None, map(getter(name), holders))
        if is_list:
            holders = chain.from_iterable(holders)
    return map(getter(route[-1][0]), holders)


def lists_in(node: Node) -> Iterator[tuple[Route, str]]:
    """Yield the route to each list of objects inside an object, and the list's name, such as ``Order.items``."""
    owners: list[tuple[Route, Node]] = [((), node), *routes(node)]
    for route, owner in owners:
        if isinstance(owner, ObjectNode):
            for name, child in owner.fields.items():
                if isinstance(child, ListNode) and isinstance(child.element, ObjectNode):
                    yield (*route, (name, True)), f"{owner.name}.{name}"


def note_lists(
    sent: Sent, objects: Sequence[Any], lists: Iterable[tuple[Route, str]], getter: Callable[[str], Any] = attrgetter
) -> None:
    """Note in ``sent``, for each list that the objects may have, whether any has its key (its value is not UNSET)."""
    for route, name in lists:
        if not sent.get(name) and (values := list(at_end(objects, route, getter))):
            sent[name] = any(value is not UNSET for value in values)


def either(one: Sent, other: Sent) -> Sent:
    """Return which lists the objects of both have."""
    return {name: one.get(name, False) or other.get(name, False) for name in (*one, *other)}


def create_types(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the named types of ``sql/types``."""
    for path in sql_files.listed("types"):
        connection.execute(sql_files.read(path))


def shape_of(connection: duckdb.DuckDBPyConnection) -> Shape:
    """Return the shape of a page, from the types ``shipment`` and ``included``."""
    return _shape(*connection.sql("select null::shipment, null::included").types)


@cache
def _shape(shipment: DuckDBPyType, included: DuckDBPyType) -> Shape:
    of_kinds = dict(_children(included))
    kinds = {str(of_list): name for name, of_list in of_kinds.items()} | {f"{shipment}[]": SHIPMENT}
    return Shape(
        collection=ListNode(_thing(shipment, SHIPMENT, kinds, keyed=True)),
        included={name: _included(of_list, name, kinds) for name, of_list in of_kinds.items()},
        columns={COLLECTION: _columns(shipment)}
        | {name: _columns(_children(of_list)[0][1]) for name, of_list in of_kinds.items() if of_list.id == "list"},
    )


def _columns(struct: DuckDBPyType) -> Mapping[str, str]:
    return {field: str(duckdb_type) for field, duckdb_type in _children(struct)}


def _included(of_list: DuckDBPyType, name: str, kinds: Mapping[str, str]) -> Node:
    if of_list.id != "list":
        return _node(of_list, name, kinds)
    return ListNode(_thing(_children(of_list)[0][1], name, kinds, keyed=True))


def _node(duckdb_type: DuckDBPyType, name: str, kinds: Mapping[str, str]) -> Node:
    if duckdb_type.id == "list":
        return ListNode(_node(_children(duckdb_type)[0][1], name, kinds))
    if duckdb_type.id == "struct":
        kind = kinds.get(f"{duckdb_type}[]")
        thing = _thing(duckdb_type, kind or name, kinds, keyed=kind in _KEYED_BY_ID)
        return replace(thing, has_rows=name in object_lists())
    return ValueNode(str(duckdb_type), name)


def _thing(duckdb_type: DuckDBPyType, name: str, kinds: Mapping[str, str], *, keyed: bool) -> ObjectNode:
    fields = {key: _node(child, f"{name}.{key}", kinds) for key, child in _children(duckdb_type)}
    return ObjectNode(name, keyed, fields)


def _children(duckdb_type: DuckDBPyType) -> list[tuple[str, DuckDBPyType]]:
    return cast(list[tuple[str, DuckDBPyType]], duckdb_type.children)
