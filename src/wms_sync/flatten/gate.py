"""The gate: check whether a page fits the types exactly.

DuckDB's typed read fails on a word in a number, but silently ignores an unknown key, rounds 1.5 to an integer, reads 5
as true, ``epoch`` as a time and 1_000 as a decimal, rounds surplus decimals, cuts the time off a date and writes an
object into a text. So msgspec decodes each page a second time (19 ms for 4.9 MB), with the same types and no other
keys. For a page that passes, DuckDB reads the same values as ``values`` would give. The gate is looser than DuckDB
only where DuckDB fails with an error (a day that does not exist), which sends the page to the slow path too. The gate
also finds lists that contain an id twice.

A page with an unknown key takes the slow path, which is twenty times slower. The gate then learns the key, so a new
field of the service costs that only once: later pages with only learned keys pass, and their drift is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from wms_sync.flatten.duplicates import Duplicates, id_of, kinds_repeat
from wms_sync.flatten.findings import Drift
from wms_sync.flatten.routes import Route, at_end
from wms_sync.flatten.shape import COLLECTION, ENVELOPE, INCLUDED, SHIPMENT, Node, ObjectNode, Shape, ValueNode
from wms_sync.flatten.split import ObjectBytes, Seen, lists_of
from wms_sync.flatten.strict_types import Asked, StrictTypes, decoder, routes_to_decimals
from wms_sync.flatten.stubs import SIGNS, may_hold_stub
from wms_sync.flatten.unknown_keys import Counted, UnknownKeys, attributes_of

AT_ONCE = 32
"""How many objects are decoded at a time: their values then stay in the processor's cache, and take little memory."""


class Examined(Struct, frozen=True):
    """Whether DuckDB can read the page as it is, and the learned unknown keys on it.

    ``objects`` are those of the page that were not ``seen`` before, and ``shared`` those of them that may come again;
    none has a line break.
    """

    fits: bool
    drift: Sequence[Drift] = ()
    objects: ObjectBytes = field(default_factory=dict)
    shared: Seen = field(default_factory=dict)


class Gate:
    """Checks pages against the types; for one thread at a time, since it learns from pages."""

    def __init__(self, shape: Shape) -> None:
        self._included = included = ObjectNode(INCLUDED, keyed=False, fields=shape.included)
        envelope: dict[str, Node] = {name: ValueNode("JSON", name) for name in ENVELOPE}
        self._page = ObjectNode("Page", False, {**envelope, COLLECTION: shape.collection, INCLUDED: included})
        self._unknown_keys = UnknownKeys(self._page)
        self._nodes = shape.kinds
        self._duplicates = {kind: Duplicates(node) for kind, node in self._nodes.items()}
        self._asked = Asked()
        self._decimals = {kind: list(routes_to_decimals(node)) for kind, node in self._nodes.items()}
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
        duplicates = self._duplicates[kind]
        ids: list[Any] = []
        for at in range(0, len(objects), AT_ONCE):
            decoded = self._decoded(kind, b"[" + b",".join(objects[at : at + AT_ONCE]) + b"]")
            if duplicates.inside(decoded):
                raise ValueError("a list contains an object twice")
            if kind == COLLECTION and may_hold_stub(decoded, self._signs):
                raise ValueError("a record may be a stub")
            self._unknown_keys.count(decoded, *path, drift=drift)
            ids += map(id_of, decoded)
        return ids

    def learn(self, drift: Iterable[Drift]) -> None:
        """Let pages with these unknown keys pass from now on, and count the keys."""
        if self._unknown_keys.learn(drift):
            self._build()

    def _decoded(self, kind: str, objects: bytes) -> list[Any]:
        """Decode a list of objects; if it fails, once more with a question about every decimal and date."""
        if kind not in self._decoders:
            self._decoders[kind] = self._decoder(kind)
        usual, decimals = self._decoders[kind]
        try:
            decoded: list[Any] = usual.decode(objects)
        except msgspec.ValidationError:
            decoded = self._asking(kind).decode(objects)
            del self._decoders[kind]  # the next one has wider types for the fields that were seen just now
        else:
            for route in decimals:
                self._asked.check_all(at_end(decoded, route))
        return decoded

    def _decoder(self, kind: str) -> tuple[msgspec.json.Decoder[Any], Sequence[Route]]:
        """Return a decoder, and the routes to the decimals that it does not check."""
        decimals = [route for field, route in self._decimals[kind] if field in self._asked.seen]
        return decoder(self._nodes[kind], self._unknown_keys, self._asked), decimals

    def _asking(self, kind: str) -> msgspec.json.Decoder[Any]:
        if kind not in self._asking_all:
            self._asking_all[kind] = decoder(self._nodes[kind], self._unknown_keys, self._asked, asks_all=True)
        return self._asking_all[kind]

    def _build(self) -> None:
        self._decoders: dict[str, tuple[msgspec.json.Decoder[Any], Sequence[Route]]] = {}
        self._asking_all: dict[str, msgspec.json.Decoder[Any]] = {}
        types = StrictTypes(self._unknown_keys.learned)
        lists: Any = list[Raw] | None
        included = types.struct(self._included, dict.fromkeys(self._nodes, (lists, None)))
        page = types.struct(self._page, {COLLECTION: (lists, None), INCLUDED: (included | None, None)})
        self._split: msgspec.json.Decoder[Any] = msgspec.json.Decoder(page)
        keys = attributes_of(self._unknown_keys.learned, SHIPMENT)
        self._signs = [attribute for attribute, key in keys.items() if key in SIGNS]
