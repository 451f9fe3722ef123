"""The column ``resource_json``: one JSON object a row, laid over what the row's other columns say.

It is the way to say what no column can: a field that is not in the specification, another shape, an explicit null or an
empty value. What it says wins and is not checked; of what it does not say nothing is lost. An object is laid over an
object field by field; anything else, and an entry of custom fields, replaces what stands there.

Belongs here: reading that cell and laying it over a body. Does not: the rules of the other cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wms_sync.master_data.fields.rules import Broken, Cell, json_value

COLUMN = "resource_json"
Said = Mapping[str, Any]
NOTHING: Said = {}
_OF_ENTRIES = "custom_fields"


def cell() -> Cell:
    """The rule of the column."""
    return Cell("JSON", "object laid over what the other columns say, also null, empty and unknown fields", _object)


def read(text: str, column: str, key: str) -> Said:
    """What the cell says of the row that has ``key`` in the key's ``column``; raises ``Broken``."""
    said = _object(text)
    if column in said and said[column] != key:
        raise Broken(
            f"Has {said[column]!r} as {column} and the column {column} has {key!r}: make them the same, or leave it "
            "out of the JSON."
        )
    if not isinstance(said.get("type", ""), str):
        raise Broken("Has a type that is no text; put it in quotes.")
    return said


def is_said(said: Said, path: tuple[str, ...]) -> bool:
    """Whether it decides the field at a place, by a value there or by one above that is no object."""
    inner: object = said
    for step in path:
        if not isinstance(inner, Mapping):
            return True
        if step not in inner:
            return False
        inner = inner[step]
    return True


def laid_over(body: Mapping[str, Any], said: Said) -> dict[str, Any]:
    """A body with what was said in place of its own."""
    merged = dict(body)
    for name, value in said.items():
        below = merged.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[name] = below | value if name == _OF_ENTRIES else laid_over(below, value)
        else:
            merged[name] = value
    return merged


def _object(text: str) -> Said:
    said = json_value(text)
    if not isinstance(said, dict):
        raise Broken('Must be a JSON object, such as {"legal_name": null}.')
    return said
