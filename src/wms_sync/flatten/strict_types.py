"""The types of ``sql/types`` for msgspec, with no other keys: what DuckDB reads without a loss, and nothing else.

Most decimals are whole numbers or texts, which msgspec checks by itself. Whether DECIMAL(18,4) holds another number
exactly is a question to Python. Asking it about every decimal, 45 a shipment, takes a sixth of the gate's time. So only
the fields of which a fraction was seen are asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from wms_sync.flatten.shape import ListNode, Node, ObjectNode, ValueNode
from wms_sync.flatten.unknown_keys import ABSENT, UnknownKeys
from wms_sync.flatten.values import DECIMAL_LIMIT, is_exact_decimal
from wms_sync.whole_numbers import INT64

# A date followed by midnight loses nothing when its time is cut off.
_DATE = r"\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?:\.0+)?(?:Z|\+00:?00)?)?\Z"
_DOUBLE = r"\A-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?\Z"
_DECIMAL = r"\A-?[0-9]{1,14}(?:\.[0-9]{1,4})?\Z"
_DECIMAL_TEXT = re.compile(_DECIMAL, re.ASCII)
_INT64 = Meta(ge=INT64[0], le=INT64[-1])
_BELOW_LIMIT = Meta(gt=-DECIMAL_LIMIT, lt=DECIMAL_LIMIT)


class _Decimal:
    """Stands for a number that DECIMAL(18,4) holds exactly; a subclass for each field, with its name and one value."""

    field: str
    value: _Decimal


_VALUES: dict[str, Any] = {
    # PHP sometimes writes a number as text; a whole number loses nothing.
    "BIGINT": Annotated[int, _INT64] | Annotated[str, Meta(pattern=r"\A-?[0-9]+\Z")],
    "BOOLEAN": bool | Annotated[int, Meta(ge=0, le=1)],
    "DECIMAL(18,4)": Annotated[int, _BELOW_LIMIT] | Annotated[str, Meta(pattern=_DECIMAL)],
    "DOUBLE": Annotated[int, _INT64] | float | Annotated[str, Meta(pattern=_DOUBLE)],
    "TIMESTAMP WITH TIME ZONE": datetime,
    "DATE": Annotated[str, Meta(pattern=_DATE)],
    "VARCHAR": str | Annotated[int, _INT64] | float | bool,
    "JSON": Raw,
}


class Fractions:
    """The decimal fields in which a number was ``seen`` that only Python can check, and what stands for each."""

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self._classes: dict[str, type[_Decimal]] = {}

    def of(self, field: str) -> type[_Decimal]:
        """Return the type that asks ``check`` about the values of this field."""
        if field not in self._classes:

            class Asked(_Decimal):
                pass

            Asked.field, Asked.value = field, Asked()
            self._classes[field] = Asked
        return self._classes[field]

    def check(self, asked: type[_Decimal], value: object) -> _Decimal:
        """Check one decimal; msgspec calls this. Raise ``ValueError``."""
        if value.__class__ is int:
            fits = -DECIMAL_LIMIT < value < DECIMAL_LIMIT
        elif isinstance(value, float):
            self.seen.add(asked.field)
            fits = is_exact_decimal(value)
        else:
            fits = isinstance(value, str) and _DECIMAL_TEXT.fullmatch(value) is not None
        if fits:
            return asked.value
        raise ValueError("no such decimal")


class StrictTypes:
    """Makes the types for decoders, with the unknown keys that were learned.

    Of decimals, the fields that had ``fractions`` are asked about; with ``asks_all``, every field.
    """

    def __init__(self, unknown_keys: UnknownKeys, fractions: Fractions, *, asks_all: bool = False) -> None:
        self._unknown_keys = unknown_keys
        self._fractions = fractions
        self._asks_all = asks_all
        self._structs: dict[int, Any] = {}

    def decoder(self, node: Node) -> msgspec.json.Decoder[Any]:
        """Return a decoder of a list of such objects."""
        listed: Any = list[self._type(node)]  # type: ignore[misc]
        return msgspec.json.Decoder(listed, dec_hook=self._fractions.check)

    def struct(self, thing: ObjectNode, other: Mapping[str, tuple[Any, Any]] | None = None) -> Any:  # noqa: ANN401
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

    def _type(self, node: Node) -> Any:  # noqa: ANN401 - a type expression
        if isinstance(node, ValueNode):
            is_asked = node.type == "DECIMAL(18,4)" and (self._asks_all or node.name in self._fractions.seen)
            return self._fractions.of(node.name) if is_asked else _VALUES[node.type]
        if isinstance(node, ListNode):
            nullable = isinstance(node.element, ValueNode)
            element = self._type(node.element)
            return list[element | None] if nullable else list[element]  # type: ignore[valid-type]
        if id(node) not in self._structs:
            self._structs[id(node)] = self.struct(node)
        return self._structs[id(node)]

    def _optional(self, node: Node) -> tuple[Any, Any]:
        built = self._type(node)
        return (Raw, ABSENT) if built is Raw else (built | None, None)
