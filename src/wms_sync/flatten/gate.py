"""The gate: does a page fit the types exactly?

DuckDB's typed read is strict about a word in a number, but says nothing of an unknown key, rounds 1.5 into an
integer, takes 5 for true, ``epoch`` for a time and 1_000 for a decimal, rounds what has more decimals than it holds,
cuts the time off a date and writes an object into a text. So each page is decoded a second time, by msgspec (26 ms for
4.9 MB), with the same types, and no key but those. What passes is what ``values`` would make of it; the gate is looser
than DuckDB only where DuckDB fails loudly (a day that does not exist), which sends the page the slow way too. Since the
ids are at hand, lists that name an object twice are found.

A page with an unknown key goes the slow way, which takes twenty times as long. The gate then learns the key, so that
a field that the service has begun to send costs that once: a page with nothing else unknown passes, its drift counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from wms_sync.flatten.findings import Drift
from wms_sync.flatten.garbage import no_garbage_collection
from wms_sync.flatten.shape import ENVELOPE, Many, Node, Shape, Thing, Value
from wms_sync.flatten.twice import NamedTwice
from wms_sync.flatten.unknown_keys import ABSENT, UnknownKeys
from wms_sync.flatten.values import DECIMAL_LIMIT, is_exact_decimal

# Midnight behind a date takes nothing away from it.
_DATE = r"\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?:\.0+)?(?:Z|\+00:?00)?)?\Z"
_DOUBLE = r"\A-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?\Z"
_INT64 = Meta(ge=-(2**63), le=2**63 - 1)
_DECIMAL_TEXT = re.compile(r"-?[0-9]{1,14}(?:\.[0-9]{1,4})?", re.ASCII)


class _Decimal:
    """Stands for a number that a DECIMAL(18,4) holds to the last digit."""


_FITS = _Decimal()


def _decimal(_: type, value: object) -> _Decimal:
    """Called for each decimal of a page, 20,000 times for 500 shipments: that costs 2 ms."""
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
    # PHP writes a number as text now and then; whole ones lose nothing.
    "BIGINT": Annotated[int, _INT64] | Annotated[str, Meta(pattern=r"\A-?[0-9]+\Z")],
    "BOOLEAN": bool | Annotated[int, Meta(ge=0, le=1)],
    "DECIMAL(18,4)": _Decimal,
    "DOUBLE": Annotated[int, _INT64] | float | Annotated[str, Meta(pattern=_DOUBLE)],
    "TIMESTAMP WITH TIME ZONE": datetime,
    "DATE": Annotated[str, Meta(pattern=_DATE)],
    "VARCHAR": str | Annotated[int, _INT64] | float | bool,
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
        envelope: dict[str, Node] = {name: Value("JSON", name) for name in ENVELOPE}
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
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(self._type(self._page), dec_hook=_decimal)

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
