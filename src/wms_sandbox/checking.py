"""Check a body against its definition: all violations at once, each with the path to its key (specification 7.1)."""

from collections.abc import Iterator

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from wms_sandbox.definitions import DEFINITIONS
from wms_sandbox.errors import ParameterError

_VALIDATORS = {kind: Draft202012Validator(schema) for kind, schema in DEFINITIONS.items()}


def violations(kind: str, body: object) -> list[ParameterError]:
    """Return everything that is wrong with the body of a create."""
    found = {(key, message) for error in _VALIDATORS[kind].iter_errors(body) for key, message in _read(error)}
    return [ParameterError(key, message) for key, message in sorted(found)]


def _read(error: ValidationError) -> Iterator[tuple[str, str]]:
    """Yield keys and messages: one error of the library may concern several keys."""
    place = ".".join(map(str, error.absolute_path))
    inside = f"{place}." if place else ""
    if error.validator == "required":
        yield from ((inside + name, "Required.") for name in error.schema["required"] if name not in error.instance)
    elif error.validator == "additionalProperties":
        known = error.schema["properties"]
        yield from ((inside + name, "Unknown property.") for name in error.instance if name not in known)
    else:
        yield place or "body", f"The {error.validator} {error.validator_value} is expected."
