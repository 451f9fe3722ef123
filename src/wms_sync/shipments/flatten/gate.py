"""The gate: check that a page fits the types exactly, and that no list contains an id twice.

DuckDB's typed read fails on a word in a number, but silently ignores an unknown key, rounds 1.5 to an integer, and
reads 5 as true, ``epoch`` as a time and 1_000 as a decimal. It also rounds surplus decimals, cuts the time off a date
and writes an object into a text. So msgspec decodes each page first, with the same types and no other keys. For a page
that passes, DuckDB reads the same values as ``values`` would give. Where the gate is looser than DuckDB, DuckDB fails
with an error, which also leads to repair. msgspec cannot express two rules: that DECIMAL(18,4) holds the fraction
exactly, and that the day of a date exists. ``loses_nothing`` checks both for a decoded value.

In a list whose elements' ids are keys, only the first occurrence of an object may become a row. These lists are
``items`` of a shipment, an order and a gallery, and every kind under ``included``, where the six kinds of products
count as one list. Most ids occur once, so the ids of all lists on one route are checked together, with iterators that
run in C; only if an id repeats is each list checked separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from operator import attrgetter
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from wms_sync.json_values import INT64
from wms_sync.shipments.flatten.shape import (
    COLLECTION,
    ENVELOPE,
    INCLUDED,
    PRODUCTS,
    ListNode,
    Node,
    ObjectNode,
    Route,
    Sent,
    Shape,
    ValueNode,
    at_end,
    lists_in,
    note_lists,
    routes,
)
from wms_sync.shipments.flatten.values import DECIMAL_LIMIT, EXACT_FLOAT, is_exact_decimal, may_be_stub
from wms_sync.shipments.flatten.write import ObjectBytes

DECIMAL, DATE = "DECIMAL(18,4)", "DATE"
# Cutting the time off a date with midnight loses nothing.
_DATE = r"\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?:\.0+)?(?:Z|\+00:?00)?)?\Z"
_DAY_LENGTH = len("2024-01-31")
_DOUBLE = r"\A-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?\Z"
_DECIMAL = r"\A-?[0-9]{1,14}(?:\.[0-9]{1,4})?\Z"
_INT64 = Meta(ge=INT64[0], le=INT64[-1])
_WHOLE_DECIMAL = Meta(gt=-DECIMAL_LIMIT, lt=DECIMAL_LIMIT)
_FRACTION = Meta(gt=-EXACT_FLOAT, lt=EXACT_FLOAT)
_VALUES: dict[str, Any] = {
    # PHP sometimes writes a number as text; reading it as a whole number loses nothing.
    "BIGINT": Annotated[int, _INT64] | Annotated[str, Meta(pattern=r"\A-?[0-9]+\Z")],
    "BOOLEAN": bool | Annotated[int, Meta(ge=0, le=1)],
    DECIMAL: Annotated[int, _WHOLE_DECIMAL] | Annotated[float, _FRACTION] | Annotated[str, Meta(pattern=_DECIMAL)],
    "DOUBLE": Annotated[int, _INT64] | float | Annotated[str, Meta(pattern=_DOUBLE)],
    "TIMESTAMP WITH TIME ZONE": Annotated[datetime, Meta(tz=True)],
    DATE: Annotated[str, Meta(pattern=_DATE)],
    "VARCHAR": str | Annotated[int, _INT64] | bool,
    "JSON": Raw,
}
Ids = Sequence[Any]
"""Ids as on the page: numbers, or numbers as text."""
id_of = attrgetter("id")
AT_ONCE = 32
"""The number of objects decoded at a time: few, so that their values stay in the processor's cache."""
Seen = dict[str, dict[bytes, Any]]
"""The ids of objects of shared kinds on earlier pages of a batch, by kind and then by the bytes of the object."""


def struct_of(thing: ObjectNode, other: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - a generated struct
    """Return the struct for an object, with the types in ``other`` for some of its fields."""
    given = other or {}
    fields: list[Any] = [
        (name, _VALUES["BIGINT"])
        if thing.keyed and name == "id"
        else (name, *_optional(given[name] if name in given else _type_of(node), node))
        for name, node in thing.fields.items()
    ]
    # in the order of sql/types: msgspec finds keys fastest in the order in which they arrive
    return msgspec.defstruct("ObjectNode", fields, forbid_unknown_fields=True, gc=False, kw_only=True)


def loses_nothing(value: object, duckdb_type: str) -> bool:
    """Return whether DuckDB keeps all of a decoded decimal or date."""
    if duckdb_type == DATE and isinstance(value, str):
        try:
            date.fromisoformat(value[:_DAY_LENGTH])
        except ValueError:
            return False
    return not isinstance(value, float) or is_exact_decimal(value)


def _optional(found: Any, node: Node) -> tuple[Any, Any]:  # noqa: ANN401 - a type expression
    """Return the type of an optional field that may be null, and its default, which for a list differs from null."""
    if isinstance(node, ListNode):
        return found | None | UnsetType, UNSET
    return (Raw, Raw()) if found is Raw else (found | None, None)


def _type_of(node: Node) -> Any:  # noqa: ANN401 - a type expression
    if isinstance(node, ValueNode):
        return _VALUES[node.type]
    if isinstance(node, ListNode):
        element = _type_of(node.element)
        return list[element | None] if isinstance(node.element, ValueNode) else list[element]  # type: ignore[valid-type]
    return struct_of(node)


def kinds_repeat(ids: Mapping[str, Ids]) -> bool:
    """Return whether a page has an id twice in a kind under ``included``, or in the kinds of products together.

    Shipments are left out: the pager checks their order.
    """
    products = [ids[kind] for kind in PRODUCTS if kind in ids]
    others = (some for kind, some in ids.items() if kind != COLLECTION and kind not in PRODUCTS)
    return _repeat(chain.from_iterable(products), sum(map(len, products))) or any(
        _repeat(some, len(some)) for some in others
    )


def _repeats(objects: Sequence[Any], route: Route) -> bool:
    """Return whether a list at the end of the route contains an object twice."""
    lists = list(filter(None, at_end(objects, route)))
    return _repeat(map(id_of, chain.from_iterable(lists)), sum(map(len, lists))) and any(
        _repeat(map(id_of, part), len(part)) for part in lists
    )


def _repeat(ids: Iterable[Any], count: int) -> bool:
    """Return whether an id repeats. ``7`` and ``"7"`` are the same id; ``sum`` is the fastest test for text ids."""
    different = set(ids)
    try:
        sum(different)
    except TypeError:
        different = set(map(int, different))
    return len(different) < count


class Examined(Struct, frozen=True):
    """The result of the gate; ``fits`` is true if DuckDB can read the page unchanged.

    ``objects`` are the page's objects that were not ``seen`` before; ``shared`` are those of them that later pages may
    repeat. The bytes of an object never contain a line break. ``sent`` tells which lists these objects have.
    """

    fits: bool
    objects: ObjectBytes = field(default_factory=dict)
    shared: Seen = field(default_factory=dict)
    sent: Sent = field(default_factory=dict)


class Gate:
    """Checks pages against the types. Each gate has its own types and is used by one thread at a time.

    msgspec caches an incomplete analysis of a type on the type: if another thread builds a decoder of the same type
    meanwhile, the process ends with a segmentation fault.
    """

    def __init__(self, shape: Shape) -> None:
        self._kinds = shape.kinds
        self._with_ids = {
            kind: [
                route for route, found in routes(node) if route[-1][1] and isinstance(found, ObjectNode) and found.keyed
            ]
            for kind, node in self._kinds.items()
        }
        self._decoders = {
            kind: msgspec.json.Decoder(list[_type_of(node)])  # type: ignore[misc]
            for kind, node in self._kinds.items()
        }
        self._inexact = {
            kind: [
                (route, found.type)
                for route, found in routes(node)
                if isinstance(found, ValueNode) and found.type in {DECIMAL, DATE}
            ]
            for kind, node in self._kinds.items()
        }
        self._lists = {kind: [*lists_in(node)] for kind, node in self._kinds.items()}
        self._split = _splitter(shape)

    def examine(self, content: bytes, seen: Seen | None = None) -> Examined:
        """Check one page by decoding it; the decoded values are discarded.

        An object that was ``seen`` was checked with another page and is not decoded again.
        """
        try:
            return self._examined(content, seen or {})
        except (msgspec.DecodeError, ValueError, RecursionError):
            return Examined(fits=False)

    def _examined(self, content: bytes, seen: Seen) -> Examined:
        page = self._split.decode(content)
        ids: dict[str, Sequence[Any]] = {}
        unseen: dict[str, Sequence[Any]] = {}
        shared: Seen = {}
        sent: Sent = {}
        for kind in self._kinds:
            objects = page.collection if kind == COLLECTION else getattr(page.included, kind, None)
            if not objects:
                continue
            if kind not in seen:
                ids[kind], unseen[kind] = self._ids(kind, objects, sent), objects
            else:
                ids[kind], shared[kind] = self._ids_of_shared(kind, [*map(bytes, objects)], seen[kind], sent)
                unseen[kind] = tuple(shared[kind])
        if page.collection is None or kinds_repeat(ids):
            return Examined(fits=False)
        if b"\n" in content:  # only between values: inside a string it is escaped
            unseen = {kind: [bytes(raw).replace(b"\n", b" ") for raw in some] for kind, some in unseen.items()}
        return Examined(True, unseen, shared, sent)

    def _ids_of_shared(
        self, kind: str, objects: Sequence[bytes], seen: Mapping[bytes, Any], sent: Sent
    ) -> tuple[list[Any], dict[bytes, Any]]:
        """Return the ids of all objects, and the ids of the unseen objects by their bytes."""
        unseen = [content for content in objects if content not in seen]
        new = dict(zip(unseen, self._ids(kind, unseen, sent), strict=True))
        return [new[content] if content in new else seen[content] for content in objects], new

    def _ids(self, kind: str, objects: Sequence[Any], sent: Sent) -> list[Any]:
        """Return the ids of objects, and note their lists in ``sent``.

        Raise ``ValueError`` or an error of msgspec if an object does not fit.
        """
        ids: list[Any] = []
        inexact: dict[str, set[Any]] = {DECIMAL: set(), DATE: set()}
        for start in range(0, len(objects), AT_ONCE):
            decoded = self._decoders[kind].decode(b"[" + b",".join(objects[start : start + AT_ONCE]) + b"]")
            for route, duckdb_type in self._inexact[kind]:
                inexact[duckdb_type].update(at_end(decoded, route))
            is_doubtful = kind == COLLECTION and any(map(may_be_stub, decoded))
            if is_doubtful or any(_repeats(decoded, route) for route in self._with_ids[kind]):
                raise ValueError("a record may be a stub, or a list contains an object twice")
            note_lists(sent, decoded, self._lists[kind])
            ids += map(id_of, decoded)
        # most values repeat on a page, and each is checked in Python
        if not all(loses_nothing(value, duckdb_type) for duckdb_type, some in inexact.items() for value in some):
            raise ValueError("the value would change")
        return ids


def _splitter(shape: Shape) -> msgspec.json.Decoder[Any]:
    """Return a decoder for a page; it leaves the objects of each kind undecoded."""
    included = struct_of(
        ObjectNode(INCLUDED, keyed=False, fields=shape.included), dict.fromkeys(shape.kinds, list[Raw])
    )
    envelope: dict[str, Node] = {name: ValueNode("JSON", name) for name in ENVELOPE}
    return msgspec.json.Decoder(
        struct_of(ObjectNode("Page", keyed=False, fields=envelope), {COLLECTION: list[Raw], INCLUDED: included})
    )
