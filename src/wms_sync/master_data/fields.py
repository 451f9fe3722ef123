"""The rules of single cells, from the specification (2.0 to 2.3, 4.1 to 4.3, 8), each in words and as a function.

The function of a ``Cell`` takes the text of a cell, stripped and never empty, and returns the value for the request
body, or raises ``Broken`` with a sentence on the mistake and the correction. If the specification does not list all
allowed values, any text is valid; if the service may still refuse the text, a ``doubt`` becomes a warning in the plan.

Belongs here: single cells. Keep out: custom fields (``json_columns``), rules that involve several cells (``check``) or
several rows (``records``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from difflib import get_close_matches

from wms_sync.grammar import count_of
from wms_sync.json_values import INT64, LARGEST_ID
from wms_sync.master_data.suspicions import ANY, BARCODE, CODE, METHOD, TAG, suspicion

SEPARATOR = "|"
"""Separates the entries of a list."""
INT32 = range(-(2**31), 2**31)
ID = range(1, LARGEST_ID + 1)
_LONGEST = 20
"""The maximum length of a whole number that can be in a range."""
FAMILIES = ("black", "blue", "brown", "gray", "green", "orange", "purple", "red", "yellow")
PALETTE = tuple(f"{family}{shade}" for family in FAMILIES for shade in range(1, 6))
"""The colours of location tags (2.1)."""
_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "1", "wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar"), True),
    **dict.fromkeys(("false", "no", "0", "falsch", "faux", "falso", "onwaar"), False),
}
"""Booleans as spreadsheets in several languages save them, and ``yes``, ``no``, ``1`` and ``0``."""
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)", re.ASCII)
_COMMA = re.compile(r"[+-]?[\d.]*,\d*", re.ASCII)
_WHOLE = re.compile(r"([+-]?\d+)([.,]0)?", re.ASCII)
"""A whole number, also written as 12.0, as spreadsheets save it in a column with one decimal, and data frames in a
column with gaps."""
_HTML_TAG = re.compile(r"<!--.*?-->|<[a-z/!?][^>]*>", re.IGNORECASE | re.DOTALL)
_EXTENSION = re.compile(r"([a-z]{2})\s*:\s*([^:|]*[^:|\s])", re.IGNORECASE | re.ASCII)
_UPC_WITHOUT_ZERO = 11
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""A number whose comma may separate thousands or decimals."""
_REFERENCE = {False: "reference", True: "list of references"}
_LIST = "list"
_LISTS = frozenset({_LIST, _REFERENCE[True]})
"""The types of cells with several entries."""
_SEVERAL = {False: "", True: f", several separated by {SEPARATOR}"}
NUMBER = "number"
"""The word for the type of a decimal number."""


class Broken(ValueError):
    """A cell breaks its rule."""


@dataclass(frozen=True)
class Cell:
    """The rule of a cell: the word for its type, the rule in words, and the function that parses its text.

    ``doubt`` returns the reason why the service may still refuse a text that is valid; None if there is no reason.
    ``holds`` is what the cell, or each entry of its list, is in the table of suspicions.
    """

    type: str
    rule: str
    parse: Callable[[str], object]
    doubt: Callable[[str], str | None] = field(default=lambda _: None, kw_only=True)
    holds: str = field(default=ANY, kw_only=True)

    def suspicion(self, cell: str) -> str | None:
        """Return why a cell is probably not what was meant, and what to do; None if nothing is suspicious."""
        entries = map(str.strip, cell.split(SEPARATOR)) if self.type in _LISTS else (cell,)
        return next(filter(None, (suspicion(self.holds, entry) for entry in entries)), None)


@dataclass(frozen=True)
class Refers(Cell):
    """A cell that refers to other objects. Its value is the tuple of their keys: natural keys, or ids as text.

    ``field`` is the field of the body, ``to`` the service's word for the kind of the objects. ``ids`` is the last part
    of the name of the column that takes ids for the same field.
    """

    field: str
    to: str
    many: bool
    by_id: bool = False
    ids: str = ""


def text(high: int | None = None, holds: str = ANY) -> Cell:
    """Return the rule for text of at most ``high`` characters, such as a SKU, which ``holds`` a code."""

    def parse(cell: str) -> str:
        if high is not None and len(cell) > high:
            raise Broken(f"Has {count_of(len(cell), 'character')}; at most {high:,} are allowed.")
        return cell

    return Cell("text", "any text" if high is None else f"1 to {high} characters", parse, holds=holds)


def barcode() -> Cell:
    """Return the rule for a barcode.

    Warn of a code that, by its check digit, is a valid UPC without its leading 0: spreadsheets drop the 0.
    """

    def doubt(cell: str) -> str | None:
        said = f"Is a valid UPC with a 0 in front: if a spreadsheet dropped it, write 0{cell}; sent unchanged."
        return said if _lacks_zero(cell) else None

    return replace(text(holds=BARCODE), doubt=doubt)


def tag_name(high: int) -> Cell:
    """Return the rule for a location tag's name. Strip HTML tags, and whitespace around the name, as the service does.

    See section 4.1 of the specification.
    """

    def parse(cell: str) -> str:
        name = without_html(cell)
        if not 1 <= len(name) <= high:
            raise Broken(f"Has {count_of(len(name), 'character')} without its HTML tags; 1 to {high} are allowed.")
        return name

    return Cell("text", f"1 to {high} characters; HTML tags are stripped; unique", parse, holds=TAG)


def without_html(cell: str) -> str:
    """Strip HTML tags and surrounding whitespace, as the service does."""
    while (stripped := _HTML_TAG.sub("", cell).strip()) != cell:
        cell = stripped
    return cell


def shipping_method(high: int) -> Cell:
    """Return the rule for a shipping method: carrier, underscore, service (2.2)."""
    plain = text(high, METHOD)
    return replace(plain, rule=f"<carrier>_<SERVICE>, such as ups_GROUND; {plain.rule}")


def one_of(choices: Sequence[str], words: str | None = None) -> Cell:
    """Return the rule for a cell that must have one of these values, in any case."""
    listed = words or ", ".join(choices)
    by_word = {choice.casefold(): choice for choice in choices}

    def parse(cell: str) -> str:
        if same := by_word.get(cell.casefold()):
            return same
        meant = next((by_word[word] for word in get_close_matches(cell.casefold(), by_word, n=1)), None)
        raise Broken(f"Must be one of: {listed}." + (f" Did you mean {meant}?" if meant else ""))

    return Cell("one of", listed, parse)


def flag() -> Cell:
    """Return the rule for a boolean, as people and spreadsheets write it."""

    def parse(cell: str) -> bool:
        try:
            return _BOOLEANS[cell.casefold()]
        except KeyError:
            raise Broken("Must be true or false (yes or no, 1 or 0).") from None

    return Cell("true or false", "true or false, yes or no, 1 or 0", parse)


def flag_or_text() -> Cell:
    """Return the rule for an option of unknown shape, which by its name is a boolean. Send other text unchanged."""

    def parse(cell: str) -> bool | str:
        return _BOOLEANS.get(cell.casefold(), cell)

    def doubt(cell: str) -> str | None:
        said = "Is neither true nor false and is sent as text: the specification does not show the option's values."
        return None if cell.casefold() in _BOOLEANS else said

    return Cell("true or false", "true or false, yes or no, 1 or 0; other text is sent unchanged", parse, doubt=doubt)


def whole(within: range) -> Cell:
    """Return the rule for a whole number in a range."""

    def parse(cell: str) -> int:
        found = _WHOLE.fullmatch(cell)
        if not found:
            raise Broken("Must be a whole number, written only with digits.")
        if len(found[1]) > _LONGEST or int(found[1]) not in within:
            raise Broken(f"Must be between {within[0]} and {within[-1]}.")
        return int(found[1])

    return Cell("whole number", "only digits" if within == INT64 else f"{within[0]} to {within[-1]}", parse)


def number() -> Cell:
    """Return the rule for a decimal number, which is sent exactly."""
    return Cell(NUMBER, "digits, with a decimal point or comma", exact_number)


def measure() -> Cell:
    """Return the rule for a weight, length or volume: a decimal number that is not negative."""

    def parse(cell: str) -> int | float:
        if (size := exact_number(cell)) < 0:
            raise Broken("Must not be below zero.")
        return size

    return Cell(NUMBER, "digits, with a decimal point or comma; not below 0", parse)


def letters(count: int, example: str, what: str) -> Cell:
    """Return the rule for a code of ``count`` letters in any case. The code is sent in capitals."""

    def parse(cell: str) -> str:
        if not (len(cell) == count and cell.isascii() and cell.isalpha()):
            raise Broken(f"Must be the {count} letters of a {what}, such as {example}.")
        return cell.upper()

    return Cell("text", f"{count} letters of a {what}, such as {example}", parse)


def listed(entry: Cell) -> Cell:
    """Return the rule for a list whose entries are separated by ``|``."""

    def parse(cell: str) -> list[object]:
        return [entry.parse(part) for part in _parts(cell)]

    def doubt(cell: str) -> str | None:
        return next(filter(None, (entry.doubt(part.strip()) for part in cell.split(SEPARATOR))), None)

    return Cell(_LIST, f"entries separated by {SEPARATOR}; each: {entry.rule}", parse, doubt=doubt, holds=entry.holds)


def extensions() -> Cell:
    """Return the rule for the country extensions of a harmonised code: ``CC:extension|CC:extension``."""

    def parse(cell: str) -> list[dict[str, str]]:
        found = [_EXTENSION.fullmatch(part) for part in _parts(cell)]
        if not all(found):
            raise Broken("Must be a 2-letter country and its extension, such as US:4050|CA:10.")
        return [{"country_id": entry[1].upper(), "extension": entry[2]} for entry in found if entry]

    return Cell(_LIST, "country:extension separated by |, such as US:4050|CA:10", parse)


def refers(
    field: str, to: str, *, key: str, ids: str, by: str, many: bool = False, doubt: str | None = None
) -> dict[str, Refers]:
    """Return the two columns of a reference (``key`` for natural keys, ``ids`` for ids); a row fills one of them.

    ``by`` is the rule of natural keys in words. Several are separated by ``|``.
    """

    def parse(cell: str) -> tuple[str, ...]:
        return _each_once(_parts(cell) if many else [cell])

    by_key = Refers(
        _REFERENCE[many], by + _SEVERAL[many], parse, field, to, many, ids=ids, doubt=lambda _: doubt, holds=CODE
    )
    return {key: by_key, ids: refers_by_id(field, to, many=many, doubt=doubt)}


def refers_by_id(field: str, to: str, *, many: bool = False, doubt: str | None = None) -> Refers:
    """Return the rule for the id of another object, or for several separated by ``|``."""
    identifier = whole(ID)

    def parse(cell: str) -> tuple[str, ...]:
        return _each_once([str(identifier.parse(part)) for part in (_parts(cell) if many else [cell])])

    rule = f"id of a {to} in the service{_SEVERAL[many]}"
    return Refers(_REFERENCE[many], rule, parse, field, to, many, by_id=True, doubt=lambda _: doubt)


def exact_number(cell: str) -> int | float:
    """Return the number to send in JSON. Refuse a number whose digits a double would change.

    Accept a decimal comma if there is only one way to read the number, and no separators of thousands.
    """
    if _THOUSANDS.fullmatch(cell):
        raise two_ways(cell)
    if not _NUMBER.fullmatch(cell):
        raise Broken("Must be a number: only digits and at most one decimal point or comma.")
    plain = cell.replace(",", ".")
    found = float(plain)
    if Decimal(repr(found)) != Decimal(plain):
        raise Broken("Has more digits than can be sent exactly; up to 15 are always exact.")
    return found if "." in plain else int(plain)


def has_decimal_comma(cell: str) -> bool:
    """Return whether a number certainly has a decimal comma. If so, points in the file may separate thousands."""
    return _COMMA.fullmatch(cell) is not None and not _THOUSANDS.fullmatch(cell)


def may_part_thousands(cell: str) -> bool:
    """Return whether a number's point may separate thousands, in a file that has decimal commas."""
    return _THOUSANDS.fullmatch(cell.replace(".", ",")) is not None and "." in cell


def two_ways(cell: str) -> Broken:
    """Return the error for a number that can be read in two ways."""
    whole, thousand = re.split("[.,]", cell)
    return Broken(
        f"Can be read in two ways: write {whole}{thousand}, or {whole}.{thousand}0 with one more digit after the point."
    )


def _lacks_zero(cell: str) -> bool:
    """Return whether a cell has eleven digits that, by the check digit, are a UPC without its leading 0."""
    if not (len(cell) == _UPC_WITHOUT_ZERO and cell.isascii() and cell.isdecimal()):
        return False
    digits = [int(digit) for digit in f"0{cell}"]
    return (3 * sum(digits[::2]) + sum(digits[1::2])) % 10 == 0


def _each_once(keys: Sequence[str]) -> tuple[str, ...]:
    if repeated := next((key for key in keys if keys.count(key) > 1), None):
        raise Broken(f"Has {repeated} twice; once is enough.")
    return tuple(keys)


def _parts(cell: str) -> list[str]:
    """Return the entries of a list. Refuse empty entries."""
    parts = [part.strip() for part in cell.split(SEPARATOR)]
    if not all(parts):
        raise Broken(f"Has an empty entry; write one {SEPARATOR} between two entries, and none at the ends.")
    return parts
