"""The gate: check whether a page fits the types exactly.

DuckDB's typed read fails on a word in a number, but silently ignores an unknown key, rounds 1.5 to an integer, reads 5
as true, ``epoch`` as a time and 1_000 as a decimal, rounds surplus decimals, cuts the time off a date and writes an
object into a text. So msgspec decodes each page a second time (26 ms for 4.9 MB), with the same types and no other
keys. For a page that passes, DuckDB reads the same values as ``values`` would give. The gate is looser than DuckDB
only where DuckDB fails with an error (a day that does not exist), which sends the page to the slow path too. The gate
also finds lists that contain an id twice.

A page with an unknown key takes the slow path, which is twenty times slower. The gate then learns the key, so a new
field of the service costs that only once: later pages with only learned keys pass, and their drift is counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from wms_sync.flatten.duplicates import Duplicates, id_of, kinds_repeat
from wms_sync.flatten.findings import Drift
from wms_sync.flatten.shape import COLLECTION, ENVELOPE, INCLUDED, ListNode, Node, ObjectNode, Shape, ValueNode
from wms_sync.flatten.split import ObjectBytes, Seen, lists_of
from wms_sync.flatten.unknown_keys import ABSENT, Counted, UnknownKeys
from wms_sync.flatten.values import DECIMAL_LIMIT, is_exact_decimal
from wms_sync.whole_numbers import INT64

# A date followed by midnight loses nothing when its time is cut off.
_DATE = r"\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?:\.0+)?(?:Z|\+00:?00)?)?\Z"
_DOUBLE = r"\A-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?\Z"
_INT64 = Meta(ge=INT64[0], le=INT64[-1])
_DECIMAL_TEXT = re.compile(r"-?[0-9]{1,14}(?:\.[0-9]{1,4})?", re.ASCII)


class _Decimal:
    """Stands for a number that DECIMAL(18,4) holds exactly."""


_FITS = _Decimal()


def _decimal(_: type, value: object) -> _Decimal:
    """Check one decimal. msgspec calls this 20,000 times for 500 shipments, which costs 2 ms."""
    if value.__class__ is int:
        fits = -DECIMAL_LIMIT < value < DECIMAL_LIMIT
    elif isinstance(value, float):
        fits = is_exact_decimal(value)
    else:
        fits = isinstance(value, str) and _DECIMAL_TEXT.fullmatch(value) is not None
    if fits:
        return _FITS
    raise ValueError("no such decimal")


_VALUES: dict[str, Any] = {
    # PHP sometimes writes a number as text; a whole number loses nothing.
    "BIGINT": Annotated[int, _INT64] | Annotated[str, Meta(pattern=r"\A-?[0-9]+\Z")],
    "BOOLEAN": bool | Annotated[int, Meta(ge=0, le=1)],
    "DECIMAL(18,4)": _Decimal,
    "DOUBLE": Annotated[int, _INT64] | float | Annotated[str, Meta(pattern=_DOUBLE)],
    "TIMESTAMP WITH TIME ZONE": datetime,
    "DATE": Annotated[str, Meta(pattern=_DATE)],
    "VARCHAR": str | Annotated[int, _INT64] | float | bool,
    "JSON": Raw,
}


AT_ONCE = 64
"""How many objects are decoded at a time: their values then stay in the processor's cache, and take little memory."""


@dataclass(frozen=True)
class Examined:
    """Whether DuckDB can read the page as it is, and the learned unknown keys on it.

    ``objects`` are those of the page that were not ``seen`` before, and ``shared`` those of them that may come again;
    none has a line break.
    """

    fits: bool
    drift: Sequence[Drift] = ()
    objects: ObjectBytes = field(default_factory=dict)
    shared: Seen = field(default_factory=dict)


class Gate:
    """Checks pages against the types. ``examine`` is thread-safe; do not call ``learn`` while a thread examines."""

    def __init__(self, shape: Shape) -> None:
        self._included = included = ObjectNode(INCLUDED, keyed=False, fields=shape.included)
        envelope: dict[str, Node] = {name: ValueNode("JSON", name) for name in ENVELOPE}
        self._page = ObjectNode("Page", False, {**envelope, COLLECTION: shape.collection, INCLUDED: included})
        self._unknown_keys = UnknownKeys(self._page)
        self._nodes = shape.kinds
        self._duplicates = {kind: Duplicates(node) for kind, node in self._nodes.items()}
        self._build()

    def examine(self, content: bytes, seen: Seen | None = None) -> Examined:
        """Check one page by decoding it; the decoded values are discarded.

        An object that was ``seen``, and so was checked with another page, is not decoded again.
        """
        try:
            return self._examined(content, seen or {})
        except (msgspec.DecodeError, ValueError, RecursionError):
            return Examined(fits=False)

    def _examined(self, content: bytes, seen: Seen) -> Examined:
        page = self._split.decode(content)
        drift: Counted = {}
        self._unknown_keys.count_own(page, drift=drift)
        self._unknown_keys.count_own(page.included, INCLUDED, drift=drift)
        ids: dict[str, Sequence[Any]] = {}
        unseen: dict[str, Sequence[Any]] = {}
        shared: Seen = {}
        for kind, objects in lists_of(page, self._nodes):
            unseen[kind] = objects
            if kind not in seen:
                ids[kind] = self._ids(kind, objects, drift)
            else:
                ids[kind], shared[kind] = self._ids_of_shared(kind, [*map(bytes, objects)], seen[kind], drift)
                unseen[kind] = tuple(shared[kind])
        if page.collection is None or kinds_repeat(ids):
            return Examined(fits=False)
        if b"\n" in content:  # only between values: inside a text it is escaped
            unseen = {kind: [bytes(one).replace(b"\n", b" ") for one in some] for kind, some in unseen.items()}
        return Examined(True, list(drift.values()), unseen, shared)

    def _ids_of_shared(
        self, kind: str, objects: Sequence[bytes], seen: Mapping[bytes, Any], drift: Counted
    ) -> tuple[list[Any], dict[bytes, Any]]:
        """Return the ids of all objects, and those of the objects that were not seen; all are decoded to count keys."""
        counts = self._unknown_keys.may_be_in(INCLUDED, kind)
        decoded = objects if counts else [one for one in objects if one not in seen]
        known = dict(zip(decoded, self._ids(kind, decoded, drift), strict=True))
        ids = [known[one] if one in known else seen[one] for one in objects]
        return ids, {one: id_ for one, id_ in known.items() if one not in seen}

    def _ids(self, kind: str, objects: Sequence[Any], drift: Counted) -> list[Any]:
        """Return the ids of objects; raise ``ValueError`` or an error of msgspec if one does not fit."""
        path = (COLLECTION,) if kind == COLLECTION else (INCLUDED, kind)
        duplicates, decode = self._duplicates[kind], self._decoder(kind).decode
        ids: list[Any] = []
        for at in range(0, len(objects), AT_ONCE):
            decoded = decode(b"[" + b",".join(objects[at : at + AT_ONCE]) + b"]")
            if duplicates.inside(decoded):
                raise ValueError("a list contains an object twice")
            self._unknown_keys.count(decoded, *path, drift=drift)
            ids += map(id_of, decoded)
        return ids

    def learn(self, drift: Iterable[Drift]) -> None:
        """Let pages with these unknown keys pass from now on, and count the keys."""
        if self._unknown_keys.learn(drift):
            self._build()

    def _build(self) -> None:
        self._structs: dict[int, Any] = {}
        self._decoders: dict[str, msgspec.json.Decoder[Any]] = {}
        lists: Any = list[Raw] | None
        included = self._struct(self._included, dict.fromkeys(self._nodes, (lists, None)))
        page = self._struct(self._page, {COLLECTION: (lists, None), INCLUDED: (included | None, None)})
        self._split: msgspec.json.Decoder[Any] = msgspec.json.Decoder(page)

    def _decoder(self, kind: str) -> msgspec.json.Decoder[Any]:
        if kind not in self._decoders:
            listed: Any = list[self._type(self._nodes[kind])]  # type: ignore[misc]
            self._decoders[kind] = msgspec.json.Decoder(listed, dec_hook=_decimal)
        return self._decoders[kind]

    def _type(self, node: Node) -> Any:  # noqa: ANN401 - a type expression
        if isinstance(node, ValueNode):
            return _VALUES[node.type]
        if isinstance(node, ListNode):
            nullable = isinstance(node.element, ValueNode)
            element = self._type(node.element)
            return list[element | None] if nullable else list[element]  # type: ignore[valid-type]
        if id(node) not in self._structs:
            self._structs[id(node)] = self._struct(node)
        return self._structs[id(node)]

    def _struct(self, thing: ObjectNode, other: Mapping[str, tuple[Any, Any]] | None = None) -> Any:  # noqa: ANN401
        """Return the struct for an object, with the types in ``other`` for some of its fields."""
        given = other or {}
        fields: list[Any] = [
            (name, _VALUES["BIGINT"])
            if thing.keyed and name == "id"
            else (name, *(given[name] if name in given else self._optional(node)))
            for name, node in thing.fields.items()
        ]
        unknown = self._unknown_keys.of(thing)
        fields += [(name, Raw, ABSENT) for name in unknown]
        # in the order of sql/types, in which keys are found at once if the service writes them so
        return msgspec.defstruct(
            "ObjectNode", fields, rename=unknown, forbid_unknown_fields=True, gc=False, kw_only=True
        )

    def _optional(self, node: Node) -> tuple[Any, Any]:
        built = self._type(node)
        return (Raw, ABSENT) if built is Raw else (built | None, None)
