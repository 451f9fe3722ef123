"""What one cell may hold: the rules of the specification (2.0 to 2.3, 4.1 to 4.3, 8), each in words and as a function.

A ``Cell`` annotates a field of a body (``kinds``) and is applied by pydantic. Its function takes the text of a cell,
stripped and never empty, and returns the value for the request body, or raises ``Broken`` with a sentence that says
what is wrong and what to do. Where the specification leaves a set of values open, any text passes; where the service
may still refuse what passes, a ``doubt`` says so in the plan.

Belongs here: single cells. Keep out: custom fields (``json_columns``), rules between cells (``kinds``), rules
between rows (``records``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from unicodedata import category, name

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from wms_sync.grammar import count_of
from wms_sync.json_values import INT64, LARGEST_ID

SEPARATOR = "|"
"""Separates the entries of a list."""
INT32 = range(-(2**31), 2**31)
ID = range(1, LARGEST_ID + 1)
_LONGEST = 20
"""Characters of the longest whole number that can be in range."""
FAMILIES = ("black", "blue", "brown", "gray", "green", "orange", "purple", "red", "yellow")
PALETTE = tuple(f"{family}{shade}" for family in FAMILIES for shade in range(1, 6))
"""The colours of location tags (2.1)."""
_TRUE = ("true", "yes", "1", "wahr", "vrai", "verdadero", "vero", "verdadeiro", "waar")
_FALSE = ("false", "no", "0", "falsch", "faux", "falso", "onwaar")
_BOOLEANS = dict.fromkeys(_TRUE, True) | dict.fromkeys(_FALSE, False)
"""Logical values as spreadsheets in several languages save them, and yes and no."""
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)", re.ASCII)
_POINT_AND_COMMA = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+", re.ASCII)
_COMMA_AND_POINT = re.compile(r"[+-]?\d{1,3}(,\d{3})+\.\d+", re.ASCII)
_WHOLE = re.compile(r"([+-]?\d+)([.,]0)?", re.ASCII)
"""A spreadsheet saves 12.0 in a column that shows one decimal, as does a data frame in a column with gaps."""
_HTML_TAG = re.compile(r"<!--.*?-->|<[a-z/!?][^>]*>", re.IGNORECASE | re.DOTALL)
_SHIPPING_METHOD = re.compile(r"[^\s_]+_[A-Z0-9]\S*", re.ASCII)
_SHORTENED = re.compile(r"\d([.,]\d+)?E\+\d+|\d[.,]\d+E-\d{2,}", re.ASCII | re.IGNORECASE)
_MONTH = "(?:Jan|Feb|Mar|Mrz|Apr|May|Mai|Jun|Jul|Aug|Sep|Oct|Okt|Nov|Dec|Dez)"
_DATE = re.compile(
    rf"\d{{1,2}}-{_MONTH}(-\d{{2}})?|{_MONTH}[- ]\d{{2}}|\d{{1,2}}\. {_MONTH}"
    r"|[0-3]\d\.[01]\d\.\d\d|[0-3]\d/[0-3]\d/\d\d",
    re.ASCII,
)
"""Excel, in English or German, makes this of 1-3, MAR1 or 03/01, with months in just this case; LibreOffice makes
03.01.26 of 3.1. and 03/01/26 of 3/1."""
_FORMULA = re.compile(r'="[^"]*"')
"""A formula that makes a spreadsheet keep leading zeros."""
_UPC_WITHOUT_ZERO = 11
_DROPPED = "if a spreadsheet dropped it, write 0{}; sent as it is."
_FLOAT = re.compile(r"\d{8,}\.0", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
"""May be a whole number or have a decimal comma."""
_HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})
"""Categories of characters that leave no mark: with one of them a code is another one that looks the same, and what is
there already would be created a second time."""
_FILLERS = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters of other categories that leave no mark either: joiners, variation selectors, fillers."""
_BLANK = "Zs"
_REFERENCE = {False: "reference", True: "list of references"}
_SEVERAL = {False: "", True: f", several separated by {SEPARATOR}"}
_DEEPEST = 64
"""Allowed levels of JSON: later readers of a body use recursion."""
_EXTENSION = re.compile(r"\s*([a-z]{2})\s*:\s*([^:|]*[^:|\s])\s*", re.IGNORECASE | re.ASCII)


class Broken(ValueError):
    """A cell breaks its rule; pydantic gathers these."""


NUMBER = "number"
"""The word for the type of decimal numbers."""
GIVEN = object()
"""Stands for a value that ``resource_json`` gives: it is not checked."""


def no_doubt(_cell: str) -> str | None:
    """No doubt: the default of a cell."""
    return None


@dataclass(frozen=True)
class Cell:
    """The rule of a cell: the word for its type, the rule in words, the text as a value.

    ``doubt`` says of a text that passes why the service may refuse it all the same; mostly nothing.
    """

    type: str
    rule: str
    parse: Callable[[str], object]
    doubt: Callable[[str], str | None] = field(default=no_doubt, kw_only=True)

    def __get_pydantic_core_schema__(self, _source: object, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(lambda cell: cell if cell is GIVEN else self.parse(cell))


@dataclass(frozen=True)
class Refers(Cell):
    """A cell that names other objects; its value is the tuple of their keys, natural ones or ids as text.

    ``to`` is the service's word for what is named, ``column`` the last part of the column's name; ``ids`` is that of
    the column that takes ids for the same field, and ``field`` the field of the body where it is not the column's own.
    """

    to: str
    column: str
    many: bool
    by_id: bool = False
    ids: str = ""
    field: str = ""


def text(high: int | None = None, low: int = 1) -> Cell:
    """Text of ``low`` to ``high`` characters."""

    def parse(cell: str) -> str:
        if high is not None and len(cell) > high:
            raise Broken(f"Has {count_of(len(cell), 'character')}; at most {high:,} are allowed.")
        return cell

    return Cell("text", "any text" if high is None else f"{low} to {high} characters", parse)


def code(high: int | None = None) -> Cell:
    """Text that identifies something, such as a SKU. What a spreadsheet changed, or nobody can see, is refused."""
    plain = text(high)

    def parse(cell: str) -> object:
        return plain.parse(_undamaged(cell))

    return Cell("text", plain.rule, parse)


def barcode() -> Cell:
    """A code that is often all digits: one that a program took for a number is refused.

    What is a UPC but for a 0 in front (its last digit checks the others) is doubted: spreadsheets drop it.
    """
    plain = code()

    def doubt(cell: str) -> str | None:
        return f"Is a valid UPC with a 0 in front: {_DROPPED.format(cell)}" if _lacks_zero(cell) else None

    def parse(cell: str) -> object:
        if _FLOAT.fullmatch(cell):
            raise Broken("Was taken for a number, as its .0 shows. Format the column as text and enter the code again.")
        return plain.parse(cell)

    return Cell("text", plain.rule, parse, doubt=doubt)


def hs_code() -> Cell:
    """A harmonised code, whose digits come in pairs: an odd count of them is doubted."""
    plain = code()

    def doubt(cell: str) -> str | None:
        if cell.isdecimal() and len(cell) % 2:
            return f"Has {count_of(len(cell), 'digit')}, and such codes come in pairs of them: {_DROPPED.format(cell)}"
        return None

    return Cell("text", plain.rule, plain.parse, doubt=doubt)


def tag_name(high: int) -> Cell:
    """A location tag's name as the service stores it: HTML tags stripped, blanks around it trimmed (4.1)."""

    def parse(cell: str) -> str:
        name = without_html(cell)
        if not 1 <= len(name) <= high:
            raise Broken(f"Has {count_of(len(name), 'character')} without its HTML tags; 1 to {high} are allowed.")
        return name

    return Cell("text", f"1 to {high} characters; HTML tags are stripped; unique", parse)


def without_html(cell: str) -> str:
    """Strip HTML tags and surrounding blanks, as the service does."""
    while (stripped := _HTML_TAG.sub("", cell).strip()) != cell:
        cell = stripped
    return cell


def shipping_method(high: int) -> Cell:
    """The code of a shipping method: carrier, underscore, service (2.2). No more of its grammar is specified."""
    plain = text(high)

    def doubt(cell: str) -> str | None:
        if _SHIPPING_METHOD.fullmatch(cell):
            return None
        return "Is not of the form <carrier>_<SERVICE>, such as ups_GROUND; sent as it is."

    return Cell("text", f"<carrier>_<SERVICE>, such as ups_GROUND; {plain.rule}", plain.parse, doubt=doubt)


def one_of(choices: Sequence[str], words: str | None = None) -> Cell:
    """One of a closed set of values, in any case."""
    listed = words or ", ".join(choices)
    by_word = {choice.casefold(): choice for choice in choices}

    def parse(cell: str) -> str:
        if same := by_word.get(cell.casefold()):
            return same
        meant = next((by_word[word] for word in get_close_matches(cell.casefold(), by_word, n=1)), None)
        raise Broken(f"Must be one of: {listed}." + (f" Did you mean {meant}?" if meant else ""))

    return Cell("one of", listed, parse)


def flag() -> Cell:
    """A boolean, as people and spreadsheets write it."""

    def parse(cell: str) -> bool:
        try:
            return _BOOLEANS[cell.casefold()]
        except KeyError:
            raise Broken("Must be true or false (yes or no, 1 or 0).") from None

    return Cell("true or false", "true or false, yes or no, 1 or 0", parse)


def flag_or_text() -> Cell:
    """An option of unknown shape: probably a boolean, by its name; any other text is sent as it is."""

    def parse(cell: str) -> bool | str:
        return _BOOLEANS.get(cell.casefold(), cell)

    def doubt(cell: str) -> str | None:
        if cell.casefold() in _BOOLEANS:
            return None
        return (
            "Is neither true nor false and is sent as text, since the specification does not show what the option "
            "takes; resource_json can give it another shape."
        )

    return Cell("true or false", "true or false, yes or no, 1 or 0; another text is sent as it is", parse, doubt=doubt)


def whole(within: range) -> Cell:
    """A whole number in a range."""

    def parse(cell: str) -> int:
        found = _WHOLE.fullmatch(cell)
        if not found:
            raise Broken("Must be a whole number, written with digits alone.")
        if len(found[1]) > _LONGEST or int(found[1]) not in within:
            raise Broken(f"Must lie between {within[0]} and {within[-1]}.")
        return int(found[1])

    return Cell("whole number", "digits alone" if within == INT64 else f"{within[0]} to {within[-1]}", parse)


def number() -> Cell:
    """A decimal number, kept exactly as written."""
    return Cell(NUMBER, "digits, with a decimal point or comma", exact_number)


def measure() -> Cell:
    """A weight, length or volume: a decimal number that is not below zero."""

    def parse(cell: str) -> int | float:
        if (size := exact_number(cell)) < 0:
            raise Broken("Must not be below zero.")
        return size

    return Cell(NUMBER, "digits, with a decimal point or comma; not below 0", parse)


def letters(count: int, example: str, what: str) -> Cell:
    """A code of some letters, in either case; sent in capitals."""

    def parse(cell: str) -> str:
        if not (len(cell) == count and cell.isascii() and cell.isalpha()):
            raise Broken(f"Must be the {count} letters of a {what}, such as {example}.")
        return cell.upper()

    return Cell("text", f"{count} letters of a {what}, such as {example}", parse)


def listed(entry: Cell) -> Cell:
    """A list whose entries are separated by ``|``."""

    def parse(cell: str) -> list[object]:
        return [entry.parse(part) for part in _parts(cell)]

    def doubt(cell: str) -> str | None:
        return next(filter(None, (entry.doubt(part.strip()) for part in cell.split(SEPARATOR))), None)

    rule = f"entries separated by {SEPARATOR}; each: {entry.rule}"
    return Cell("list", rule, parse, doubt=no_doubt if entry.doubt is no_doubt else doubt)


def extensions() -> Cell:
    """The country extensions of a harmonised code: ``CC:extension|CC:extension``, or the JSON of the specification."""

    def parse(cell: str) -> list[dict[str, str]]:
        if cell.startswith("["):
            return _extension_objects(json_value(cell))
        found = [_EXTENSION.fullmatch(part) for part in _parts(cell)]
        if not all(found):
            raise Broken("Must be a 2-letter country and its extension, such as US:4050|CA:10.")
        return [{"country_id": entry[1].upper(), "extension": entry[2]} for entry in found if entry]

    return Cell("list", "country:extension separated by |, such as US:4050|CA:10, or JSON", parse)


def refers(to: str, column: str, *, many: bool = False, by: str, ids: str, doubt: str | None = None) -> Refers:
    """The natural key of another object, or several separated by ``|``; the column ``ids`` takes ids in their place."""

    def parse(cell: str) -> tuple[str, ...]:
        return _each_once(_parts(cell) if many else [_undamaged(cell)])

    return Refers(_REFERENCE[many], by + _SEVERAL[many], parse, to, column, many, ids=ids, doubt=_always(doubt))


def refers_by_id(to: str, column: str, *, many: bool = False, field: str = "", doubt: str | None = None) -> Refers:
    """The id of another object, or several separated by ``|``; ``field`` is what a natural key can fill too."""
    identifier = whole(ID)

    def parse(cell: str) -> tuple[str, ...]:
        return _each_once([str(identifier.parse(part)) for part in (_parts(cell) if many else [cell])])

    rule = f"id of a {to} in the service{_SEVERAL[many]}"
    return Refers(_REFERENCE[many], rule, parse, to, column, many, by_id=True, field=field, doubt=_always(doubt))


def exact_number(cell: str) -> int | float:
    """The number that JSON will carry; what a double cannot hold exactly is refused rather than rounded.

    A comma counts as decimal, and thousands may be parted, only where there is no second way to read it.
    """
    if _THOUSANDS.fullmatch(cell):
        raise two_ways(cell)
    plain = _with_point(cell)
    if not _NUMBER.fullmatch(plain):
        raise Broken("Must be a number: digits and at most one decimal point or comma, nothing else.")
    found = float(plain)
    if Decimal(repr(found)) != Decimal(plain):
        raise Broken("Has more digits than can be sent exactly; at most 15 are sure.")
    return found if "." in plain else int(plain)


def has_decimal_comma(cell: str) -> bool:
    """Whether a number certainly has a decimal comma; then points in the same file may separate thousands."""
    is_sure = _COMMA.fullmatch(cell) or _POINT_AND_COMMA.fullmatch(cell)
    return is_sure is not None and not _THOUSANDS.fullmatch(cell)


def may_part_thousands(cell: str) -> bool:
    """Whether a number's point may separate thousands, in a file that has decimal commas."""
    return _THOUSANDS.fullmatch(cell.replace(".", ",")) is not None and "." in cell


def two_ways(cell: str) -> Broken:
    """Return the error for a number that can be read in two ways."""
    digits = re.sub("[.,]", "", cell)
    point = re.sub("[.,]", ".", cell)
    return Broken(f"Can be read in two ways: write {digits}, or {point}0 with one more digit behind the point.")


def _with_point(cell: str) -> str:
    """Rewrite a number with a decimal point if there is only one way to read it; otherwise return it as it is."""
    for comma in (_COMMA, _POINT_AND_COMMA):
        if comma.fullmatch(cell):
            return cell.replace(".", "").replace(",", ".")
    return cell.replace(",", "") if _COMMA_AND_POINT.fullmatch(cell) else cell


def json_value(cell: str) -> Any:  # noqa: ANN401 - any JSON there is
    """Parse a JSON cell strictly: exact numbers, no repeated keys, no lone surrogates (UTF-8 has none)."""
    try:
        found = json.loads(
            cell, parse_float=_json_number, parse_constant=_no_number, object_pairs_hook=_object_without_repeats
        )
    except json.JSONDecodeError as error:
        raise Broken(f"Is not JSON: {error.msg} at character {error.pos + 1}.") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # a whole number of more digits than Python reads
        raise error if isinstance(error, Broken) else Broken("Has a number with too many digits.") from None
    _look_inside(found, _DEEPEST)
    return found


def _lacks_zero(cell: str) -> bool:
    """Whether eleven digits are a UPC without its leading 0, by the check digit."""
    if not (len(cell) == _UPC_WITHOUT_ZERO and cell.isascii() and cell.isdecimal()):
        return False
    digits = [int(digit) for digit in f"0{cell}"]
    return (3 * sum(digits[::2]) + sum(digits[1::2])) % 10 == 0


def _undamaged(cell: str) -> str:
    if _FORMULA.fullmatch(cell):
        raise Broken("Is a formula of a spreadsheet. Format the column as text and enter the text alone.")
    if _SHORTENED.fullmatch(cell):
        raise Broken("Was shortened by a spreadsheet. Format the column as text and enter all digits again.")
    if _DATE.fullmatch(cell):
        raise Broken(
            "Is a date as a spreadsheet makes it of 1-3, MAR1, 3/1 and the like. Format the column as text and enter "
            "the code again; a code that is really so is confirmed in resource_json."
        )
    if cell.startswith("'"):
        raise Broken(
            "Begins with an apostrophe, by which spreadsheets mark a text. Leave it out; a code that is really so is "
            "confirmed in resource_json."
        )
    if odd := _unlike_it_looks(cell):
        raise Broken(f"Holds {odd}. Enter the text again by hand.")
    return cell


def _unlike_it_looks(cell: str) -> str | None:
    """Name the first character of a code that nobody sees, or that cannot be told from a blank."""
    for character in cell:
        if character.isascii() and character.isprintable():
            continue
        named = f"U+{ord(character):04X} ({name(character, 'a control character').lower()})"
        if category(character) in _UNSEEN or _FILLERS.fullmatch(character):
            return f"{named}, which nobody sees"
        if category(character) == _BLANK:
            return f"{named}, which looks like a blank and is another character"
    return None


def _always(doubt: str | None) -> Callable[[str], str | None]:
    return (lambda _: doubt) if doubt else no_doubt


def _each_once(keys: Sequence[str]) -> tuple[str, ...]:
    if repeated := next((key for key in keys if keys.count(key) > 1), None):
        raise Broken(f"Names {repeated} twice; once is enough.")
    return tuple(keys)


def _parts(cell: str) -> list[str]:
    parts = [part.strip() for part in cell.split(SEPARATOR)]
    if not all(parts):
        raise Broken(f"Has an empty entry; write one {SEPARATOR} between two entries and none at the ends.")
    return parts


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


def _json_number(literal: str) -> float:
    found = float(literal)
    if Decimal(repr(found)) != Decimal(literal):
        raise Broken(f"Has a number with more digits than can be sent exactly: {literal}.")
    return found


def _no_number(literal: str) -> object:
    raise Broken(f"Has {literal}, which JSON does not know.")


def _object_without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = {_whole_characters(key): value for key, value in pairs}
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise Broken(f"Has the key {next(key for key in keys if keys.count(key) > 1)} twice.")
    return found


def _look_inside(value: object, levels: int) -> None:
    if isinstance(value, str):
        _whole_characters(value)
    elif isinstance(value, dict | list):
        if levels == 0:
            raise _too_deep()
        for inner in value.values() if isinstance(value, dict) else value:
            _look_inside(inner, levels - 1)


def _whole_characters(text: str) -> str:
    if half := _HALF_CHARACTER.search(text):
        raise Broken(f"Has half a character, \\u{ord(half[0]):x}. Write the whole character or both of its halves.")
    return text


def _too_deep() -> Broken:
    return Broken(f"Is JSON that is nested too deep; at most {_DEEPEST} levels are allowed.")
