"""The column ``resource_json``: one JSON object per row, an overlay that is merged over the row's other columns.

It says what no column can: a field that is not in the specification, another shape, an explicit null, an empty value.
Its values win and are not checked; fields that it does not name keep the value of their column. Objects are merged
field by field; any other value, and an entry of custom fields, replaces the value below.

Belongs here: reading that cell and merging it. Does not: the rules of the other cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wms_sync.master_data.fields.rules import Broken, Cell, json_value

COLUMN = "resource_json"
Overlay = Mapping[str, Any]
NO_OVERLAY: Overlay = {}
_OF_ENTRIES = "custom_fields"


def cell() -> Cell:
    """Return the rule of the column."""
    return Cell("JSON", "object laid over what the other columns say, also null, empty and unknown fields", _object)


def read(text: str, column: str, key: str) -> Overlay:
    """Read the cell of a row that has ``key`` in the key's ``column``; raise ``Broken`` if it cannot be used."""
    overlay = _object(text)
    if column in overlay and overlay[column] != key:
        raise Broken(
            f"Has {overlay[column]!r} as {column} and the column {column} has {key!r}: make them the same, or leave it "
            "out of the JSON."
        )
    if not isinstance(overlay.get("type", ""), str):
        raise Broken("Has a type that is no text; put it in quotes.")
    return overlay


def decides(overlay: Overlay, path: tuple[str, ...]) -> bool:
    """Whether the overlay sets the field at ``path``, by a value there or by one above it that is no object."""
    inner: object = overlay
    for step in path:
        if not isinstance(inner, Mapping):
            return True
        if step not in inner:
            return False
        inner = inner[step]
    return True


def overlaid(body: Mapping[str, Any], overlay: Overlay) -> dict[str, Any]:
    """Merge an overlay over a body."""
    merged = dict(body)
    for name, value in overlay.items():
        below = merged.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[name] = below | value if name == _OF_ENTRIES else overlaid(below, value)
        else:
            merged[name] = value
    return merged


def _object(text: str) -> Overlay:
    overlay = json_value(text)
    if not isinstance(overlay, dict):
        raise Broken('Must be a JSON object, such as {"legal_name": null}.')
    return overlay
