"""The gate: does a page fit the types exactly?

DuckDB's typed read is strict about a word in a number, but says nothing of an unknown key, rounds 1.5 into an
integer, takes 5 for true, cuts the time off a date and writes an object into a text. So each page is decoded a second
time, by msgspec (26 ms for 4.9 MB), with the same types, and no key but those. The gate is looser than DuckDB only
where DuckDB fails loudly (a garbled timestamp). Since the ids are at hand, lists that name an object twice are found.

A page with an unknown key goes the slow way, which takes twenty times as long. The gate then learns the key, so that
a field that the service has begun to send costs that once: a page with nothing else unknown passes, its drift counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from wms_sync.flatten.findings import Drift
from wms_sync.flatten.garbage import no_garbage_collection
from wms_sync.flatten.shape import ENVELOPE, Many, Node, Shape, Thing, Value
from wms_sync.flatten.twice import NamedTwice
from wms_sync.flatten.unknown_keys import ABSENT, UnknownKeys

# Midnight behind a date takes nothing away from it.
DATE = r"\A[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?:\.0+)?(?:Z|\+00:?00)?)?\Z"
_INT64 = Meta(ge=-(2**63), le=2**63 - 1)
_VALUES: dict[str, Any] = {
    # PHP writes a number as text now and then; whole ones lose nothing.
    "BIGINT": Annotated[int, _INT64] | Annotated[str, Meta(pattern=r"\A-?[0-9]+\Z")],
    "BOOLEAN": bool | Annotated[int, Meta(ge=0, le=1)],
    "DECIMAL(18,4)": int | float | str,
    "DOUBLE": int | float | str,
    "TIMESTAMP WITH TIME ZONE": str,
    "DATE": Annotated[str, Meta(pattern=DATE)],
    "VARCHAR": str | int | float | bool,
    "JSON": Raw,
}


@dataclass(frozen=True)
class Verdict:
    """Whether the page can be read by the types as it is, and the unknown keys learned before."""

    fits: bool
    drift: list[Drift] = field(default_factory=list)


class Gate:
    """``examine`` may be called from any thread, ``learn`` while none examines."""

    def __init__(self, shape: Shape) -> None:
        included = Thing("included", keyed=False, fields=shape.included)
        envelope: dict[str, Node] = {name: Value("JSON") for name in ENVELOPE}
        self._page = Thing("Page", False, {**envelope, "collection": shape.collection, "included": included})
        self._unknown_keys = UnknownKeys(self._page)
        self._twice = NamedTwice(self._page)
        self._build()

    def examine(self, content: bytes) -> Verdict:
        """Decode the whole page; what comes out is thrown away."""
        try:
            with no_garbage_collection():
                page = self._decoder.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Verdict(fits=False)
        if page.collection is None or self._twice.in_page(page):
            return Verdict(fits=False)
        return Verdict(True, self._unknown_keys.count(page))

    def learn(self, drift: Iterable[Drift]) -> None:
        """Let these keys pass from now on, and count them."""
        if self._unknown_keys.learn(drift):
            self._build()

    def _build(self) -> None:
        self._structs: dict[int, Any] = {}
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(self._type(self._page))

    def _type(self, node: Node) -> Any:  # noqa: ANN401 - a type expression
        if isinstance(node, Value):
            return _VALUES[node.type]
        if isinstance(node, Many):
            nullable = isinstance(node.element, Value)
            element = self._type(node.element)
            return list[element | None] if nullable else list[element]  # type: ignore[valid-type]
        if id(node) not in self._structs:
            self._structs[id(node)] = self._struct(node)
        return self._structs[id(node)]

    def _struct(self, thing: Thing) -> Any:  # noqa: ANN401 - a type expression
        fields: list[Any] = [("id", _VALUES["BIGINT"])] if thing.keyed else []
        fields += [
            (name, *self._optional(node)) for name, node in thing.fields.items() if not (thing.keyed and name == "id")
        ]
        unknown = self._unknown_keys.of(thing)
        fields += [(name, Raw, ABSENT) for name in unknown]
        return msgspec.defstruct("Thing", fields, rename=unknown, forbid_unknown_fields=True, gc=False)

    def _optional(self, node: Node) -> tuple[Any, Any]:
        built = self._type(node)
        return (Raw, ABSENT) if built is Raw else (built | None, None)
