"""The types of ``sql/types`` for msgspec, with no other keys: what DuckDB reads without a loss, and nothing else.

Two things msgspec cannot express: whether DECIMAL(18,4) holds a fraction exactly, and whether a day exists that may be
followed by midnight. ``loses_nothing`` answers both for a decoded value.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

from wms_sync.json_values import INT64
from wms_sync.shipments.flatten.shape import ListNode, Node, ObjectNode, ValueNode
from wms_sync.shipments.flatten.values import DECIMAL_LIMIT, EXACT_FLOAT, is_exact_decimal

DECIMAL, DATE = "DECIMAL(18,4)", "DATE"
# A date followed by midnight loses nothing when its time is cut off.
_DATE = r"\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]00:00:00(?:\.0+)?(?:Z|\+00:?00)?)?\Z"
_DAY_LENGTH = len("2024-01-31")
_DOUBLE = r"\A-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?\Z"
_DECIMAL = r"\A-?[0-9]{1,14}(?:\.[0-9]{1,4})?\Z"
_INT64 = Meta(ge=INT64[0], le=INT64[-1])
_WHOLE_DECIMAL = Meta(gt=-DECIMAL_LIMIT, lt=DECIMAL_LIMIT)
_FRACTION = Meta(gt=-EXACT_FLOAT, lt=EXACT_FLOAT)
_VALUES: dict[str, Any] = {
    # PHP sometimes writes a number as text; a whole number loses nothing.
    "BIGINT": Annotated[int, _INT64] | Annotated[str, Meta(pattern=r"\A-?[0-9]+\Z")],
    "BOOLEAN": bool | Annotated[int, Meta(ge=0, le=1)],
    DECIMAL: Annotated[int, _WHOLE_DECIMAL] | Annotated[float, _FRACTION] | Annotated[str, Meta(pattern=_DECIMAL)],
    "DOUBLE": Annotated[int, _INT64] | float | Annotated[str, Meta(pattern=_DOUBLE)],
    "TIMESTAMP WITH TIME ZONE": datetime,
    DATE: Annotated[str, Meta(pattern=_DATE)],
    "VARCHAR": str | Annotated[int, _INT64] | float | bool,
    "JSON": Raw,
}


def decoder(node: Node) -> msgspec.json.Decoder[Any]:
    """Return a decoder of a list of such values."""
    return msgspec.json.Decoder(list[_type_of(node)])  # type: ignore[misc]


def struct_of(thing: ObjectNode, other: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401 - a generated struct
    """Return the struct for an object, with the types in ``other`` for some of its fields."""
    given = other or {}
    fields: list[Any] = [
        (name, _VALUES["BIGINT"])
        if thing.keyed and name == "id"
        else (name, *_optional(given[name] if name in given else _type_of(node)))
        for name, node in thing.fields.items()
    ]
    # in the order of sql/types, in which keys are found at once if the service writes them so
    return msgspec.defstruct("ObjectNode", fields, forbid_unknown_fields=True, gc=False, kw_only=True)


def loses_nothing(value: object, duckdb_type: str) -> bool:
    """Return whether DuckDB keeps all of a decoded decimal or date."""
    if duckdb_type == DATE and isinstance(value, str):
        try:
            date.fromisoformat(value[:_DAY_LENGTH])
        except ValueError:
            return False
    return not isinstance(value, float) or is_exact_decimal(value)


def _optional(found: Any) -> tuple[Any, Any]:  # noqa: ANN401 - a type expression
    """Return the type of a field that may be null or left out, and its default."""
    return (Raw, Raw()) if found is Raw else (found | None, None)


def _type_of(node: Node) -> Any:  # noqa: ANN401 - a type expression
    if isinstance(node, ValueNode):
        return _VALUES[node.type]
    if isinstance(node, ListNode):
        element = _type_of(node.element)
        return list[element | None] if isinstance(node.element, ValueNode) else list[element]  # type: ignore[valid-type]
    return struct_of(node)
