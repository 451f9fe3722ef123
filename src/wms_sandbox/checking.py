"""Check a body against its definition: all violations at once, each with the path to its key (specification 7.1)."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from wms_sandbox.definitions import LOCATION_TAG, PRODUCTS, RETAILER
from wms_sandbox.errors import ParameterError
from wms_sandbox.shapes import Schema

_DEFINITIONS: dict[str, Schema] = {"LocationTag": LOCATION_TAG, "Retailer": RETAILER, **PRODUCTS}
_TYPE_WORDS = {"object": "an object", "array": "an array", "integer": "an integer", "null": "null"}


def violations(kind: str, body: object, path: str = "") -> list[ParameterError]:
    """Return everything that is wrong with the body of a kind; `path` is its place in what was sent."""
    found = {(key, message) for error in _validator(kind).iter_errors(body) for key, message in _read(error, path)}
    return [ParameterError(key, message) for key, message in sorted(found)]


def product_violations(body: object) -> list[ParameterError]:
    """Return the same for `{resource: {type: ...}}`, whose type selects the definition."""
    if not isinstance(body, dict):
        return [ParameterError("body", "An object is expected.")]
    found = [ParameterError(name, "Unknown property.") for name in sorted(body) if name != "resource"]
    resource = body.get("resource")
    if not isinstance(resource, dict):
        message = "An object is expected." if "resource" in body else "Required."
        return [*found, ParameterError("resource", message)]
    kind = resource.get("type")
    if not isinstance(kind, str) or kind not in PRODUCTS:
        message = f"One of {', '.join(PRODUCTS)} is expected." if "type" in resource else "Required."
        return [*found, ParameterError("resource.type", message)]
    return found + violations(kind, resource, "resource")


@cache
def _validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(_DEFINITIONS[kind])


def _read(error: ValidationError, path: str) -> Iterator[tuple[str, str]]:
    """Yield keys and messages: one error of the library may concern several keys."""
    place = ".".join(filter(None, [path, *map(str, error.absolute_path)]))
    inside = f"{place}." if place else ""
    if error.validator == "required":
        yield from ((inside + name, "Required.") for name in error.schema["required"] if name not in error.instance)
    elif error.validator == "additionalProperties":
        known = error.schema["properties"]
        yield from ((inside + name, "Unknown property.") for name in error.instance if name not in known)
    else:
        yield place or "body", _SENTENCES[str(error.validator)](error)


def _expected_type(error: ValidationError) -> str:
    types = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    return " or ".join(_TYPE_WORDS.get(each, f"a {each}") for each in types).capitalize() + " is expected."


_SENTENCES: dict[str, Callable[[Any], str]] = {
    "type": _expected_type,
    "enum": lambda error: f"One of {', '.join(error.validator_value)} is expected.",
    "minLength": lambda error: f"At least {error.validator_value} characters are expected.",
    "maxLength": lambda error: f"At most {error.validator_value} characters are allowed.",
    "minimum": lambda error: f"At least {error.validator_value} is expected.",
    "maximum": lambda error: f"At most {error.validator_value} is allowed.",
    "pattern": lambda error: f"Does not match {error.validator_value}.",
    "anyOf": lambda error: f"Not {error.schema['description']}.",
}
