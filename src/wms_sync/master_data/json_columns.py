"""Columns of JSON: custom fields (specification 2.0), and country extensions of a code.

The custom fields of a retailer are an object with a shape for each code: ``{value}``, ``{id, label}``, a list of
``{id, label}``, or ``{amount, currency}``. The custom fields of a product are a list of ``{code, value, label?}``. A
file has one column per code, or one column of JSON, or both.

In the column of a code each cell is interpreted by itself: ``true`` and ``false`` are booleans, up to 18 digits without
a leading zero are an integer, a cell that begins with ``{`` or ``[`` is JSON, and any other cell is text.
``{"value": "90210"}`` sends digits as text. A product's list is sent in the order of codes, so the order of columns
does not change the content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from wms_sync.json_values import shallow
from wms_sync.master_data.fields import Broken, Cell, letters, parts

WHOLE = ""
"""The key under which the JSON column is found among the columns of single codes."""
_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII)
_CURRENCY = letters(3, "USD", "currency code")
_SINGLE = 'true, false, whole number or text, each cell by itself ({"value": "90210"} keeps digits as text)'
_SHAPES = (
    'Must be true, false, a whole number, text, or JSON: {"value": ...}, {"id": ..., "label": ...}, a list of those, '
    'or {"amount": ..., "currency": ...}.'
)
_DEEPEST = 64
"""The maximum number of levels of JSON, because later readers of a body use recursion."""
_EXTENSION = re.compile(r"\s*([a-z]{2})\s*:\s*([^:|]*[^:|\s])\s*", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class CustomFields(Cell):
    """The rule for all custom fields of a row, given as cells by code; ``WHOLE`` is the key of the JSON column.

    ``parse`` splits the JSON by code, ``single`` parses the value of one code, ``gather`` builds the value to send.
    """

    single: Cell
    gather: Callable[[dict[str, Any]], object]

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        by_code = core_schema.dict_schema(
            core_schema.str_schema(), core_schema.no_info_plain_validator_function(self.single.parse)
        )
        return core_schema.no_info_after_validator_function(
            self.gather, core_schema.no_info_before_validator_function(self._all, by_code)
        )

    def _all(self, cells: Mapping[str, str]) -> dict[str, object]:
        single = {code: text for code, text in cells.items() if code != WHOLE}
        spread = self.parse(cells[WHOLE]) if WHOLE in cells else {}
        assert isinstance(spread, dict)  # noqa: S101 - both functions below return a dict
        if twice := next((code for code in spread if code in single), None):
            raise Broken(f"Has the field {twice}, which also has its own column; fill one of them.")
        return spread | single


def retailer_fields() -> CustomFields:
    """Return the rule for a retailer's custom fields: an object with a shape for each code."""

    def spread(cell: str) -> dict[str, object]:
        found = json_value(cell)
        if not isinstance(found, dict):
            raise Broken('Must be a JSON object by code, such as {"edi_id": {"value": "0042"}}.')
        if flat := next((code for code, entry in found.items() if not isinstance(entry, dict | list)), None):
            raise Broken(f'Has no shape under {flat}; write {{"{flat}": {{"value": ...}}}}.')
        return found

    single = Cell(_SINGLE, "or JSON: {value}, {id, label}, a list of {id, label}, {amount, currency}", _shape)
    return CustomFields("JSON", "object of custom fields by code", spread, single, dict)


def product_fields() -> CustomFields:
    """Return the rule for a product's custom fields: a list of ``{code, value, label?}``."""

    def spread(cell: str) -> dict[str, object]:
        found = json_value(cell)
        if not (isinstance(found, list) and all(_is_field(entry) for entry in found)):
            raise Broken('Must be a JSON list such as [{"code": "season", "value": "spring", "label": "Spring"}].')
        by_code = {entry["code"]: entry for entry in found}
        if len(by_code) < len(found):
            raise Broken("Has a code twice; each code may appear once.")
        return by_code

    def gather(entries: dict[str, dict[str, object]]) -> list[dict[str, object]]:
        return [{"code": code} | entries[code] for code in sorted(entries)]

    single = Cell(_SINGLE, "or any JSON; {value, label} for a value with its label", _value_and_label)
    return CustomFields("JSON", "list of {code, value, label?}", spread, single, gather)


def _is_field(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and {"code", "value"} <= set(entry) <= {"code", "value", "label"}
        and isinstance(entry["code"], str)
        and bool(entry["code"])
        and isinstance(entry.get("label", ""), str)
    )


def _value_and_label(given: str | dict[str, object]) -> dict[str, object]:
    """Return the entry of one code, given as an entry of the JSON column or as a cell of the code's own column."""
    if isinstance(given, dict):
        return {key: member for key, member in given.items() if key != "code"}
    value = _scalar_or_json(given)
    if isinstance(value, dict) and "value" in value and _is_field({"code": "given"} | value):
        return value
    return {"value": value}


def _shape(given: str | dict[str, object] | list[object]) -> object:
    """Return the shape of one code, given as a value of the JSON column or as a cell of the code's own column."""
    value = _scalar_or_json(given) if isinstance(given, str) else given
    if isinstance(value, list):
        if not all(isinstance(entry, dict) and _is_choice(entry) for entry in value):
            raise Broken('Must be a list of choices such as [{"id": 3, "label": "EDI"}].')
        return value
    if not isinstance(value, dict):
        return {"value": value}
    if set(value) == {"amount", "currency"}:
        return _money(value)
    if _is_choice(value) or (set(value) == {"value"} and isinstance(value["value"], bool | int | str)):
        return value
    raise Broken(_SHAPES)


def _is_choice(entry: Mapping[str, object]) -> bool:
    if set(entry) != {"id", "label"} or isinstance(entry["id"], bool):
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


def extensions() -> Cell:
    """Return the rule for the country extensions of a harmonised code: ``CC:extension|CC:extension``, or JSON."""

    def parse(cell: str) -> list[dict[str, str]]:
        if cell.startswith("["):
            return _extension_objects(json_value(cell))
        found = [_EXTENSION.fullmatch(part) for part in parts(cell)]
        if not all(found):
            raise Broken("Must be a 2-letter country and its extension, such as US:4050|CA:10.")
        return [{"country_id": entry[1].upper(), "extension": entry[2]} for entry in found if entry]

    return Cell("list", "country:extension separated by |, such as US:4050|CA:10, or JSON", parse)


def _extension_objects(value: object) -> list[dict[str, str]]:
    country = letters(2, "US", "country code")
    entries = value if isinstance(value, list) else [value]
    checked: list[dict[str, str]] = []
    for entry in entries:
        if not (isinstance(entry, dict) and set(entry) == {"country_id", "extension"}):
            raise Broken('Must be JSON such as [{"country_id": "US", "extension": "4050"}].')
        if not all(isinstance(part, str) and part for part in entry.values()):
            raise Broken("Must have text as country_id and as extension: put them in quotes.")
        checked.append({"country_id": str(country.parse(entry["country_id"])), "extension": entry["extension"]})
    return checked


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
