"""The gate: does a page fit the types exactly?

DuckDB's typed read is strict about a word in a number, but says nothing of an unknown key, rounds 1.5 into an
integer, takes 5 for true, cuts the time off a date and writes an object into a text. So each page is decoded a second
time, by msgspec (26 ms for 4.9 MB), with the same types, and no key but those. The gate is looser than DuckDB only
where DuckDB fails loudly (a garbled timestamp). Since the ids are at hand, it also tells which kinds name an object
twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from wms_sync.flatten.shape import Many, Node, Shape, Thing, Value

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
    """Whether the page can be read by the types without a loss, and the kinds whose list repeats an id."""

    fits: bool
    repeated: frozenset[str] = frozenset()


class Gate:
    """Built once from the shape; ``examine`` may be called from any thread."""

    def __init__(self, shape: Shape) -> None:
        self._kinds = [name for name, node in shape.included.items() if isinstance(node, Many)]
        self._built: dict[int, Any] = {}
        kinds = [(name, *self._optional(node)) for name, node in shape.included.items()]
        included = msgspec.defstruct("Included", kinds, forbid_unknown_fields=True, gc=False)
        page = msgspec.defstruct(
            "Page",
            [
                ("collection", self._type(shape.collection)),
                ("included", included | None, None),
                *((name, Raw, Raw()) for name in ("has_more", "next", "previous", "meta")),
            ],
            forbid_unknown_fields=True,
            gc=False,
        )
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(page)

    def examine(self, content: bytes) -> Verdict:
        """Decode the whole page; what comes out is thrown away."""
        try:
            page = self._decoder.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return Verdict(fits=False)
        return Verdict(fits=True, repeated=frozenset(self._repeated(page.included)))

    def _repeated(self, included: Any) -> Iterator[str]:  # noqa: ANN401 - a generated struct
        for kind in self._kinds:
            objects = getattr(included, kind, None)
            if objects and len({found.id for found in objects}) < len(objects):
                yield kind

    def _type(self, node: Node) -> Any:  # noqa: ANN401 - a type expression
        if isinstance(node, Value):
            return _VALUES[node.type]
        if isinstance(node, Many):
            nullable = isinstance(node.element, Value)
            element = self._type(node.element)
            return list[element | None] if nullable else list[element]  # type: ignore[valid-type]
        return self._struct(node)

    def _optional(self, node: Node) -> tuple[Any, Any]:
        built = self._type(node)
        return (Raw, Raw()) if built is Raw else (built | None, None)

    def _struct(self, thing: Thing) -> Any:  # noqa: ANN401 - a type expression
        if id(thing) not in self._built:
            fields: list[Any] = [
                (name, *self._optional(node))
                for name, node in thing.fields.items()
                if not (thing.keyed and name == "id")
            ]
            required = [("id", _VALUES["BIGINT"])] if thing.keyed else []
            self._built[id(thing)] = msgspec.defstruct("Thing", required + fields, forbid_unknown_fields=True, gc=False)
        return self._built[id(thing)]
