"""Shapes that several request bodies share (specification 2.0 and 2.3), as JSON Schema 2020-12.

A shape accepts only its own properties and no nulls: callers leave out what they do not know.
"""

from typing import Any

from wms_sandbox.kinds import PRODUCT_KINDS

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}


def text(most: int, least: int = 0) -> Schema:
    """Return the schema of a string with this many characters."""
    return TEXT | {"maxLength": most} | ({"minLength": least} if least else {})


def one_of(*values: str) -> Schema:
    """Return the schema of one of these words."""
    return TEXT | {"enum": list(values)}


def listing(items: Schema) -> Schema:
    """Return the schema of an array."""
    return {"type": "array", "items": items}


def closed(properties: dict[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": list(required)} if required else {}),
    }


def whole(properties: dict[str, Schema]) -> Schema:
    """Return the schema of a closed object with all properties required."""
    return closed(properties, tuple(properties))


def reference_to(*kinds: str) -> Schema:
    """Return the schema of `{type, id}` with one of these kinds."""
    return whole({"type": one_of(*kinds), "id": INTEGER})


MEASURE = whole({"value": NUMBER})
"""A weight or volume in a request: without a unit."""

MEASURE_WITH_UNIT = whole({"value": NUMBER, "unit": TEXT})
DIMENSIONS = whole({"length": NUMBER, "width": NUMBER, "height": NUMBER})
COUNTRY = TEXT | {"pattern": "^[A-Z]{2}$", "maxLength": 2}
MONEY = whole({"amount": NUMBER, "currency": TEXT | {"pattern": "^[A-Z]{3}$", "maxLength": 3}})
PRODUCT_REFERENCE = reference_to(*PRODUCT_KINDS)

_CHOICE = whole({"id": {"type": ["integer", "string"]}, "label": TEXT})

CUSTOM_FIELDS: Schema = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [whole({"value": {"type": ["boolean", "string", "integer"]}}), _CHOICE, listing(_CHOICE), MONEY],
    },
}
"""Of a retailer: keyed by the custom field's code."""

PRODUCT_CUSTOM_FIELDS = listing(closed({"code": TEXT, "value": {}, "label": TEXT}, required=("code", "value")))
