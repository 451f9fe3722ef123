"""The gate: check whether a page fits the types exactly.

DuckDB's typed read fails on a word in a number, but silently ignores an unknown key, rounds 1.5 to an integer, reads 5
as true, ``epoch`` as a time and 1_000 as a decimal, rounds surplus decimals, cuts the time off a date and writes an
object into a text. So msgspec decodes each page a second time, with the same types and no other keys. For a page that
passes, DuckDB reads the same values as ``values`` would give. The gate is looser than DuckDB only where DuckDB fails
with an error, which also leads to repair. The gate also finds lists that contain an id twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from wms_sync.shipments.flatten.duplicates import Duplicates, id_of, kinds_repeat
from wms_sync.shipments.flatten.objects import ObjectBytes
from wms_sync.shipments.flatten.shape import (
    COLLECTION,
    ENVELOPE,
    INCLUDED,
    Node,
    ObjectNode,
    Shape,
    ValueNode,
    at_end,
    routes,
)
from wms_sync.shipments.flatten.strict_types import DATE, DECIMAL, decoder, loses_nothing, struct_of
from wms_sync.shipments.flatten.stubs import may_be_stub

AT_ONCE = 32
"""How many objects are decoded at a time: their values then stay in the processor's cache, and take little memory."""
Seen = dict[str, dict[bytes, Any]]
"""The objects of shared kinds on earlier pages of a batch: their ids by kind and bytes."""


class Examined(Struct, frozen=True):
    """Whether DuckDB can read the page as it is.

    ``objects`` are those of the page that were not ``seen`` before, and ``shared`` those of them that may come again;
    none has a line break.
    """

    fits: bool
    objects: ObjectBytes = field(default_factory=dict)
    shared: Seen = field(default_factory=dict)


class Gate:
    """Checks pages against the types; for one thread at a time, with types of its own.

    msgspec notes at a type what it knows of it before it knows all: a decoder that another thread makes of the same
    type meanwhile ends the process by a segmentation fault.
    """

    def __init__(self, shape: Shape) -> None:
        self._kinds = shape.kinds
        self._duplicates = {kind: Duplicates(node) for kind, node in self._kinds.items()}
        self._decoders = {kind: decoder(node) for kind, node in self._kinds.items()}
        self._inexact = {
            kind: [
                (route, found.type)
                for route, found in routes(node)
                if isinstance(found, ValueNode) and found.type in {DECIMAL, DATE}
            ]
            for kind, node in self._kinds.items()
        }
        self._split = _splitter(shape)

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
        ids: dict[str, Sequence[Any]] = {}
        unseen: dict[str, Sequence[Any]] = {}
        shared: Seen = {}
        for kind, objects in _lists_of(page, self._kinds):
            if kind not in seen:
                ids[kind], unseen[kind] = self._ids(kind, objects), objects
            else:
                ids[kind], shared[kind] = self._ids_of_shared(kind, [*map(bytes, objects)], seen[kind])
                unseen[kind] = tuple(shared[kind])
        if page.collection is None or kinds_repeat(ids):
            return Examined(fits=False)
        if b"\n" in content:  # only between values: inside a text it is escaped
            unseen = {kind: [bytes(one).replace(b"\n", b" ") for one in some] for kind, some in unseen.items()}
        return Examined(True, unseen, shared)

    def _ids_of_shared(
        self, kind: str, objects: Sequence[bytes], seen: Mapping[bytes, Any]
    ) -> tuple[list[Any], dict[bytes, Any]]:
        """Return the ids of all objects, and those of the objects that were not seen."""
        unseen = [content for content in objects if content not in seen]
        new = dict(zip(unseen, self._ids(kind, unseen), strict=True))
        return [new[content] if content in new else seen[content] for content in objects], new

    def _ids(self, kind: str, objects: Sequence[Any]) -> list[Any]:
        """Return the ids of objects; raise ``ValueError`` or an error of msgspec if one does not fit."""
        ids: list[Any] = []
        for start in range(0, len(objects), AT_ONCE):
            decoded = self._decoders[kind].decode(b"[" + b",".join(objects[start : start + AT_ONCE]) + b"]")
            for route, duckdb_type in self._inexact[kind]:
                if not all(loses_nothing(value, duckdb_type) for value in set(at_end(decoded, route))):
                    raise ValueError("it would not be the same value")
            if self._duplicates[kind].inside(decoded):
                raise ValueError("a list contains an object twice")
            if kind == COLLECTION and any(map(may_be_stub, decoded)):
                raise ValueError("a record may be a stub")
            ids += map(id_of, decoded)
        return ids


def _splitter(shape: Shape) -> msgspec.json.Decoder[Any]:
    """Return a decoder of a page that leaves the objects of each kind as bytes."""
    included = struct_of(
        ObjectNode(INCLUDED, keyed=False, fields=shape.included), dict.fromkeys(shape.kinds, list[Raw])
    )
    envelope: dict[str, Node] = {name: ValueNode("JSON", name) for name in ENVELOPE}
    page = ObjectNode("Page", keyed=False, fields=envelope)
    return msgspec.json.Decoder(struct_of(page, {COLLECTION: list[Raw], INCLUDED: included}))


def _lists_of(page: Any, kinds: Iterable[str]) -> Iterator[tuple[str, Sequence[Any]]]:  # noqa: ANN401 - a generated struct
    """Yield each kind that has objects on the page, with its objects."""
    for kind in kinds:
        objects = page.collection if kind == COLLECTION else getattr(page.included, kind, None)
        if objects:
            yield kind, objects
