"""Convert a JSON value to a value of a DuckDB type, with one function per type, for ``repair``.

The result is canonical: JSON that DuckDB reads as exactly this value, whatever DuckDB's own casts do with strings. So
this module alone decides which strings are numbers and times; the gate passes no value that would be read differently
here.

A *stub* is a record of the list that represents a shipment without describing it.

Some services keep a deleted shipment in the list as ``{type, id, updated_at, is_deleted: true}``, or as an object with
only type, id and updated_at. Merged like any record, it would empty the stored row. So it is quarantined whole and
changes no row. If it states that the shipment is deleted, the stored shipment is marked as missing (``load.audits``).

Each record is judged by itself, not by the other records of its page: after a night in which one shipment was deleted,
the stub may be alone on its page. A missing key means the same as null, so a service that omits null keys is read like
any other: its shipments have a status, an order or items.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from msgspec import Struct

from wms_sync.json_values import INT64, whole
from wms_sync.shipments.flatten.page import NonFiniteNumber, WrittenNumber

DECIMAL_LIMIT = 10**14
"""DECIMAL(18,4) holds fourteen digits before the decimal point."""
EXACT_FLOAT = 1e11
"""A float below this, with at most four decimals, gives exactly a whole number when multiplied by ten thousand."""
_SCALE = Decimal("0.0001")
_NOISE = 2.0**-48
"""The relative error of float arithmetic: 0.1 + 0.2 is written as 0.30000000000000004."""
_NUMBER = re.compile(r"[ \t]*(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)[ \t]*", re.ASCII)
_LONGEST_NUMBER = 400
_TIME = re.compile(
    r"\s*(?P<year>\d{4})(?P<dash>[-/])(?P<month>\d{1,2})(?P=dash)(?P<day>\d{1,2})"
    r"(?:(?:[Tt]|\s+)(?P<hour>\d{1,2}):(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:[.,](?P<fraction>\d*))?)?"
    r"\s*(?P<zone>[Zz]|UTC|GMT|(?P<sign>[+-])(?P<hours>[01]\d|2[0-3])(?::?(?P<minutes>[0-5]\d))?)?)?\s*",
    re.ASCII,
)
_EXPECTED = {
    "BIGINT": "a whole number",
    "BOOLEAN": "true or false",
    "DECIMAL(18,4)": "a number of at most fourteen digits before the point",
    "DOUBLE": "a number",
    "TIMESTAMP WITH TIME ZONE": "a date and time",
    "DATE": "a date like 2024-01-31",
    "VARCHAR": "text",
}
ROUNDED = "more than four decimals: rounded"
DIGITS_KEPT = "a number where text was expected: its digits as written were kept"
NO_OFFSET = "a time without an offset: taken as UTC"
DAY_KEPT = "a time where a date was expected: the date as written was kept"
_FLAGS = {"0": False, "1": True, "false": False, "true": True}
_ZERO_DAY = "0000-00-00"
_ZEROS = "0-:. TZ"
_OF_DAYS = {"TIMESTAMP WITH TIME ZONE", "DATE"}
_AS_IT_IS: dict[str, type] = {"BOOLEAN": bool, "DOUBLE": float, "VARCHAR": str}
SAYS_DELETED = "a stub: it states that the shipment is deleted"
SAYS_NOTHING = "a stub: it has neither a status nor an order nor items"
_DELETED = "deleted"
_DELETED_FLAGS = ("is_deleted", "deleted")
_DELETED_AT = "deleted_at"
_EMPTY: tuple[object, ...] = (None, "", [])


class Unfit(Struct, frozen=True):
    """A value that cannot be converted to the type, with the reason."""

    why: str


class Cast(Struct, frozen=True):
    """A converted value, where the conversion lost or changed something: ``why``."""

    value: Any
    why: str


def converted(value: Any, duckdb_type: str, *, odd: bool) -> Any:  # noqa: ANN401 - any JSON
    """Return the value in canonical form, a ``Cast`` or an ``Unfit``.

    ``odd`` means that the value may contain a ``NonFiniteNumber`` or lone surrogates.
    """
    if isinstance(value, _AS_IT_IS.get(duckdb_type, ())) and not odd:
        return value
    if duckdb_type == "JSON":
        why = why_unwritable(value) if odd else None
        return value if why is None else Unfit(why)
    if isinstance(value, str) and odd and not value.isascii() and (why := why_unwritable(value)):
        return Unfit(why)
    found = None if isinstance(value, NonFiniteNumber) else _CONVERSIONS[duckdb_type](value)
    return Unfit(f"{_EXPECTED[duckdb_type]} was expected") if found is None else found


def is_exact_decimal(number: float) -> bool:
    """Return whether DuckDB reads the float as exactly the DECIMAL(18,4) that was written."""
    return abs(number) < EXACT_FLOAT and _is_noise(round(number, 4) - number, number)


def why_unwritable(value: Any) -> str | None:  # noqa: ANN401 - any JSON
    """Return why a value cannot be written as JSON; None if it can."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "it contains half of a surrogate pair"
    except (TypeError, ValueError, RecursionError):
        return "it contains a value that JSON cannot represent"
    return None


def means_null(value: Any, duckdb_type: str) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a value is a null of PHP or MySQL: a blank string where no text is expected, or day zero."""
    if not isinstance(value, str) or duckdb_type in {"VARCHAR", "JSON"}:
        return False
    return not value.strip(" ") or (duckdb_type in _OF_DAYS and value.startswith(_ZERO_DAY) and not value.strip(_ZEROS))


def _flag(value: Any) -> bool | None:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return _FLAGS.get(value.strip(" ").lower())
    return bool(value) if isinstance(value, int | float) and value in {0, 1} else None


def _decimal(value: Any) -> str | Cast | None:  # noqa: ANN401 - any JSON
    number = _number(value)
    if number is None or abs(number) >= DECIMAL_LIMIT:
        return None
    rounded = number.quantize(_SCALE, ROUND_HALF_UP)
    if abs(rounded) >= DECIMAL_LIMIT:
        return None
    if rounded == number or (isinstance(value, float) and _is_noise(float(rounded - number), value)):
        return f"{rounded:f}"
    return Cast(f"{rounded:f}", ROUNDED)


def _is_noise(difference: float, number: float) -> bool:
    return abs(difference) <= abs(number) * _NOISE


def _double(value: Any) -> float | None:  # noqa: ANN401 - any JSON
    number = _number(value)
    return None if number is None or abs(number) >= 2**1023 else float(number)


def _number(value: Any) -> Decimal | None:  # noqa: ANN401 - any JSON
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and (written := _NUMBER.fullmatch(value)):
        return Decimal(written["number"])
    return None


def _text(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value in INT64 else str(value)
    if isinstance(value, WrittenNumber):
        return Cast(value.text, DIGITS_KEPT)
    return value if isinstance(value, str | bool) else None


def _date(value: Any) -> str | Cast | None:  # noqa: ANN401 - any JSON
    found = _moment(value)
    if found is None:
        return None
    written, moment = found
    day = f"{int(written['year']):04}-{int(written['month']):02}-{int(written['day']):02}"
    offset = (written["hours"] or "00") + (written["minutes"] or "00")
    is_all = offset == "0000" and moment.isoformat() == f"{day}T00:00:00"
    return day if is_all else Cast(day, DAY_KEPT)


def _time(value: Any) -> str | Cast | None:  # noqa: ANN401 - any JSON
    found = _moment(value)
    if found is None:
        return None
    written, moment = found
    offset = f"{written['sign']}{written['hours']}:{written['minutes'] or '00'}" if written["sign"] else "+00:00"
    read = f"{moment.isoformat()}{offset}"
    return read if written["zone"] else Cast(read, NO_OFFSET)


def _moment(value: Any) -> tuple[re.Match[str], datetime] | None:  # noqa: ANN401 - any JSON
    """Parse a time: return the match and the local time in the written zone, or None.

    24:00:00 is the following midnight, and a leap second (23:59:60) the following second, as in POSIX.
    """
    written = _TIME.fullmatch(value) if isinstance(value, str) else None
    if written is None:
        return None
    hour, minute, second = (int(written[part] or 0) for part in ("hour", "minute", "second"))
    leap = (minute, second) == (59, 60)
    next_day = (hour, minute, second) == (24, 0, 0) and not int(f"0{written['fraction'] or ''}")
    try:
        moment = datetime(  # noqa: DTZ001 - the zone is kept as written
            int(written["year"]),
            int(written["month"]),
            int(written["day"]),
            0 if next_day else hour,
            minute,
            59 if leap else second,
            int((written["fraction"] or "")[:6].ljust(6, "0")),
        )
        return written, moment + timedelta(days=next_day, seconds=leap)
    except (ValueError, OverflowError):
        return None


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "BIGINT": whole,
    "BOOLEAN": _flag,
    "DECIMAL(18,4)": _decimal,
    "DOUBLE": _double,
    "TIMESTAMP WITH TIME ZONE": _time,
    "DATE": _date,
    "VARCHAR": _text,
}


def why_stub(record: Mapping[str, Any]) -> str | None:
    """Return why a record of the list is a stub, for ``ops.quarantine.why``; None if it is not."""
    if _says_deleted(record):
        return SAYS_DELETED
    is_bare = all(record.get(key) in _EMPTY for key in ("status", "order", "items"))
    return SAYS_NOTHING if is_bare else None


def may_be_stub(record: Any) -> bool:  # noqa: ANN401 - a generated struct
    """Return whether a decoded record may be a stub. The record has only keys of ``sql/types``."""
    return _is_deleted_status(record.status) or (not record.status and record.order is None and not record.items)


def _says_deleted(record: Mapping[str, Any]) -> bool:
    since = record.get(_DELETED_AT)
    return (
        _is_deleted_status(record.get("status"))
        or any(converted(record.get(flag), "BOOLEAN", odd=True) is True for flag in _DELETED_FLAGS)
        or (bool(since) and not means_null(since, "TIMESTAMP WITH TIME ZONE"))
    )


def _is_deleted_status(status: object) -> bool:
    return isinstance(status, str) and status.strip().lower() == _DELETED
