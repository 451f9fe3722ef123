"""Custom fields (specification 2.0): a column per code, a column of JSON, or both; and how a cell of JSON is parsed.

The custom fields of a retailer are an object with a shape for each code: ``{value}``, ``{id, label}``, a list of
``{id, label}``, or ``{amount, currency}``. The custom fields of a product are a list of ``{code, value, label?}``,
which is sent in the order of codes, so the order of columns does not change the content.

In the column of a code each cell is interpreted by itself: ``true`` and ``false`` are booleans, up to 18 digits without
a leading zero are an integer, a cell that begins with ``{`` or ``[`` is JSON, and any other cell is text.
``{"value": "90210"}`` sends digits as text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from wms_sync.json_values import shallow
from wms_sync.master_data.fields import Broken, Cell, letters

_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
_CURRENCY = letters(3, "USD", "currency code")
_SINGLE = 'true, false, whole number or text, each cell by itself ({"value": "90210"} keeps digits as text)'
_SHAPES = (
    'Must be {"value": ...} with true, false, a whole number or text, {"id": ..., "label": ...}, a list of those, or '
    '{"amount": ..., "currency": ...}.'
)
_DEEPEST = 64
"""The maximum number of levels of JSON, because later readers of a body use recursion."""


@dataclass(frozen=True)
class CustomFields(Cell):
    """The rule of the JSON column, whose value has an entry per code. ``single`` is the rule of a code's own column."""

    single: Cell


def retailer_fields() -> CustomFields:
    """Return the rule for a retailer's custom fields: an object with a shape for each code."""

    def parse(cell: str) -> dict[str, object]:
        found = json_value(cell)
        if not isinstance(found, dict):
            raise Broken('Must be a JSON object by code, such as {"edi_id": {"value": "0042"}}.')
        for code, entry in found.items():
            try:
                found[code] = _shape(entry)
            except Broken as broken:
                raise Broken(f"{code}: {broken}") from None
        return found

    single = Cell(_SINGLE, "or JSON: {value}, {id, label}, a list of {id, label}, {amount, currency}", _single_shape)
    return CustomFields("JSON", "object of custom fields by code", parse, single)


def product_fields() -> CustomFields:
    """Return the rule for a product's custom fields: a list of ``{code, value, label?}``."""

    def parse(cell: str) -> dict[str, object]:
        found = json_value(cell)
        if not (isinstance(found, list) and all(_is_field(entry) for entry in found)):
            raise Broken('Must be a JSON list such as [{"code": "season", "value": "spring", "label": "Spring"}].')
        by_code = {entry.pop("code"): entry for entry in found}
        if len(by_code) < len(found):
            raise Broken("Has a code twice; each code may appear once.")
        return by_code

    single = Cell(_SINGLE, "or any JSON; {value, label} for a value with its label", _value_and_label)
    return CustomFields("JSON", "list of {code, value, label?}", parse, single)


def _is_field(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and {"code", "value"} <= set(entry) <= {"code", "value", "label"}
        and isinstance(entry["code"], str)
        and bool(entry["code"])
        and isinstance(entry.get("label", ""), str)
    )


def _value_and_label(cell: str) -> object:
    value = _scalar_or_json(cell)
    has_label = isinstance(value, dict) and "code" not in value and _is_field({"code": "given"} | value)
    return value if has_label else {"value": value}


def _single_shape(cell: str) -> object:
    value = _scalar_or_json(cell)
    return _shape(value) if isinstance(value, dict | list) else {"value": value}


def _shape(value: Any) -> object:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        if not all(map(_is_choice, value)):
            raise Broken('Must be a list of choices such as [{"id": 3, "label": "EDI"}].')
        return value
    names = set(value) if isinstance(value, dict) else set()
    if names == {"amount", "currency"}:
        return _money(value)
    if _is_choice(value) or (names == {"value"} and isinstance(value["value"], bool | int | str)):
        return value
    raise Broken(_SHAPES)


def _is_choice(entry: Any) -> bool:  # noqa: ANN401 - any JSON
    if not (isinstance(entry, dict) and set(entry) == {"id", "label"}) or isinstance(entry["id"], bool):
        return False
    return isinstance(entry["id"], int | str) and isinstance(entry["label"], str)


def _money(value: Mapping[str, object]) -> dict[str, object]:
    amount, currency = value["amount"], value["currency"]
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise Broken("Must have a number as amount, without quotes.")
    if not isinstance(currency, str):
        raise Broken('Must have a currency code in quotes, such as "USD".')
    return {"amount": amount, "currency": _CURRENCY.parse(currency)}


def _scalar_or_json(cell: str) -> object:
    if cell.startswith(("{", "[")):
        return json_value(cell)
    if cell.casefold() in {"true", "false"}:
        return cell.casefold() == "true"
    return int(cell) if _INTEGER.fullmatch(cell) else cell


def json_value(cell: str) -> Any:  # noqa: ANN401 - any JSON there is
    """Parse a JSON cell. Raise ``Broken`` for whatever could not be sent exactly as it is written."""
    try:
        found = json.loads(cell, parse_float=_exact, parse_constant=_exact, object_pairs_hook=_without_repeats)
        json.dumps(found, ensure_ascii=False).encode()  # fails for half a surrogate pair
        if shallow(found, _DEEPEST) != found:
            raise ValueError(f"it has more than {_DEEPEST} levels")
    except (ValueError, RecursionError) as error:
        raise Broken(f"Is not JSON that can be sent as it is written: {error}.") from None
    return found


def _exact(literal: str) -> float:
    found = float(literal)
    if not isfinite(found) or Decimal(repr(found)) != Decimal(literal):
        raise ValueError(f"{literal} cannot be sent exactly")
    return found


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError(f"an object repeats a key ({', '.join(key for key, _ in pairs)})")
    return found
