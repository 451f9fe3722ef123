"""The filter grammar of listings (service-facts, "Filter grammar"): text to `Filter` values, no data.

    id:15                       equals
    id{gt:15,lt:50}             all of them
    id[{lt:15},{gt:50}]         any of them

Of JSON5 only keys without quotes are accepted. The operators are those confirmed for the Global API. `gteq`, `lteq`,
`neq` and `nin` belong to the JSON-RPC API and `gte` and `lte` to neither: all are refused, as is an unknown field, with
the key named.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from wms_sandbox.errors import ParameterError

INTEGER_FIELDS = ("id", "retailer_id")
TIME_FIELDS = ("created_at", "updated_at", "packed_at")
TEXT_FIELDS = ("unique_id", "tracking_number", "alt_tracking_number")
FIELDS = (*INTEGER_FIELDS, *TIME_FIELDS, *TEXT_FIELDS)

ORDERED = ("eq", "gt", "lt", "from", "to")
TEXTUAL = ("start", "end", "regex")
OPERATORS = (*ORDERED, "in", "null", *TEXTUAL)

_FILTER = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_.]*)\s*([:{\[])(.*)", re.DOTALL)
_TEXT_OR_BARE_KEY = re.compile(r'"(?:[^"\\]|\\.)*"|(?P<key>[A-Za-z_]+)(?=\s*:)')


@dataclass(frozen=True)
class Condition:
    """One comparison. Times are milliseconds since 1970, `in` is a tuple, `null` a bool, `regex` a checked pattern."""

    operator: str
    value: Any


@dataclass(frozen=True)
class Filter:
    """A field that must meet all conditions of at least one alternative."""

    field: str
    alternatives: tuple[tuple[Condition, ...], ...]


def parse_filter(text: str) -> Filter:
    """Parse one `filter` parameter. Raises ParameterError with the offending key (`filter.<field>.<operator>`)."""
    found = _FILTER.fullmatch(text)
    if found is None:
        raise ParameterError("filter", f"Cannot read {text!r}: write field:value, field{{...}} or field[{{...}},...].")
    field, mark, rest = found.groups()
    key = f"filter.{field}"
    if field not in FIELDS:
        raise ParameterError(key, f"Unknown filter field. Filterable: {', '.join(FIELDS)}.")
    if mark == ":":
        return Filter(field, ((Condition("eq", _scalar(field, rest, f"{key}.eq")),),))
    try:
        value = msgspec.json.decode(_TEXT_OR_BARE_KEY.sub(_quoted, mark + rest))
    except ValueError as error:
        raise ParameterError(key, f"Cannot read {mark + rest!r}: {error}.") from None
    alternatives = value if isinstance(value, list) else [value]
    if not alternatives:
        raise ParameterError(key, "At least one set of conditions is needed.")
    return Filter(field, tuple(_conditions(field, each, key) for each in alternatives))


def _quoted(found: re.Match[str]) -> str:
    return f'"{found["key"]}"' if found["key"] else found[0]


def _conditions(field: str, value: object, key: str) -> tuple[Condition, ...]:
    if not isinstance(value, dict) or not value:
        raise ParameterError(key, "An object of operators is expected, such as {gt:15}.")
    return tuple(_condition(field, operator, operand, f"{key}.{operator}") for operator, operand in value.items())


def _condition(field: str, operator: str, operand: object, key: str) -> Condition:
    if operator not in OPERATORS:
        raise ParameterError(key, f"Unknown operator. Known: {', '.join(OPERATORS)}.")
    if operator == "null":
        if not isinstance(operand, bool):
            raise ParameterError(key, "true or false is expected.")
        return Condition(operator, operand)
    if operator == "in":
        if not isinstance(operand, list):
            raise ParameterError(key, "An array is expected.")
        return Condition(operator, tuple(_scalar(field, each, key) for each in operand))
    if operator in TEXTUAL:
        return Condition(operator, _text(operand, key, is_pattern=operator == "regex"))
    return Condition(operator, _scalar(field, operand, key))


def _text(operand: object, key: str, *, is_pattern: bool) -> str:
    if isinstance(operand, bool) or not isinstance(operand, str | int):
        raise ParameterError(key, "A string is expected.")
    text = str(operand)
    if is_pattern:
        try:
            re.compile(text)
        except re.error as error:
            raise ParameterError(key, f"Not a regular expression: {error}.") from None
    return text


def _scalar(field: str, operand: object, key: str) -> int | str:
    return _READERS[field](operand, key)


def _integer(operand: object, key: str) -> int:
    if not isinstance(operand, bool):
        if isinstance(operand, int):
            return operand
        if isinstance(operand, str) and re.fullmatch(r"\s*-?\d+\s*", operand):
            return int(operand)
    raise ParameterError(key, "An integer is expected.")


def _moment(operand: object, key: str) -> int:
    """Return a time in milliseconds; finer digits are cut off.

    A date means midnight; a time without an offset is UTC.
    """
    try:
        if not isinstance(operand, str) or not re.match(r"\s*\d{4}-\d\d-\d\d", operand):
            raise ValueError
        moment = datetime.fromisoformat(operand.strip())
    except ValueError:
        raise ParameterError(key, "A date-time is expected, such as 2024-01-31T10:00:00Z.") from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (int(moment.replace(microsecond=0).timestamp()) * 1000) + moment.microsecond // 1000


def _plain_text(operand: object, key: str) -> str:
    return _text(operand, key, is_pattern=False)


_READERS: dict[str, Callable[[object, str], int | str]] = {
    **dict.fromkeys(INTEGER_FIELDS, _integer),
    **dict.fromkeys(TIME_FIELDS, _moment),
    **dict.fromkeys(TEXT_FIELDS, _plain_text),
}
