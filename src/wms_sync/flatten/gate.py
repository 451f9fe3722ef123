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
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from wms_sync.flatten.duplicates import Duplicates
from wms_sync.flatten.findings import Drift
from wms_sync.flatten.shape import ENVELOPE, ListNode, Node, ObjectNode, Shape, ValueNode
from wms_sync.flatten.unknown_keys import ABSENT, UnknownKeys
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


@dataclass(frozen=True)
class Examined:
    """Whether DuckDB can read the page as it is, and the learned unknown keys on it."""

    fits: bool
    drift: list[Drift] = field(default_factory=list)


class Gate:
    """Checks pages against the types. ``examine`` is thread-safe; do not call ``learn`` while a thread examines."""

    def __init__(self, shape: Shape) -> None:
        included = ObjectNode("included", keyed=False, fields=shape.included)
        envelope: dict[str, Node] = {name: ValueNode("JSON", name) for name in ENVELOPE}
        self._page = ObjectNode("Page", False, {**envelope, "collection": shape.collection, "included": included})
        self._unknown_keys = UnknownKeys(self._page)
        self._duplicates = Duplicates(self._page)
        self._build()

    def examine(self, content: bytes) -> Examined:
        """Check one page by decoding it; the decoded values are discarded."""
        try:
            page = self._decoder.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Examined(fits=False)
        if page.collection is None or self._duplicates.in_page(page):
            return Examined(fits=False)
        return Examined(True, self._unknown_keys.count(page))

    def learn(self, drift: Iterable[Drift]) -> None:
        """Let pages with these unknown keys pass from now on, and count the keys."""
        if self._unknown_keys.learn(drift):
            self._build()

    def _build(self) -> None:
        self._structs: dict[int, Any] = {}
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(self._type(self._page), dec_hook=_decimal)

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

    def _struct(self, thing: ObjectNode) -> Any:  # noqa: ANN401 - a type expression
        fields: list[Any] = [("id", _VALUES["BIGINT"])] if thing.keyed else []
        fields += [
            (name, *self._optional(node)) for name, node in thing.fields.items() if not (thing.keyed and name == "id")
        ]
        unknown = self._unknown_keys.of(thing)
        fields += [(name, Raw, ABSENT) for name in unknown]
        return msgspec.defstruct("ObjectNode", fields, rename=unknown, forbid_unknown_fields=True, gc=False)

    def _optional(self, node: Node) -> tuple[Any, Any]:
        built = self._type(node)
        return (Raw, ABSENT) if built is Raw else (built | None, None)
