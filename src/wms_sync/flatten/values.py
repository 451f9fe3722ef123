"""Does a JSON value fit a DuckDB type without a loss? One function a type, for the slow way; the fast one is ``gate``.

A text that DuckDB is to cast (a timestamp, a number) is let through: DuckDB is asked about it afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from wms_sync.flatten.findings import Oddity
from wms_sync.flatten.gate import DATE
from wms_sync.whole_numbers import whole

_DATE = re.compile(DATE)
_DECIMAL_LIMIT = 10**14  # DECIMAL(18,4) holds fourteen digits before the point
_EXPECTED = {
    "BIGINT": "a whole number",
    "BOOLEAN": "true or false",
    "DECIMAL(18,4)": "a number of at most fourteen digits before the point",
    "DOUBLE": "a number",
    "TIMESTAMP WITH TIME ZONE": "a date and time",
    "DATE": "a date like 2024-01-31",
    "VARCHAR": "text",
}
_AS_IT_IS: dict[str, type] = {"BOOLEAN": bool, "DOUBLE": float, "VARCHAR": str}


def why_not(value: Any, duckdb_type: str, *, odd: bool) -> str | None:  # noqa: ANN401 - any JSON
    """Why the value does not fit, None when it does. ``odd``: it may hold what JSON does not have."""
    if type(value) is _AS_IT_IS.get(duckdb_type) and not odd:
        return None
    if duckdb_type == "JSON":
        return unwritable(value) if odd else None
    if isinstance(value, str) and odd and not value.isascii() and (why := unwritable(value)):
        return why
    if isinstance(value, Oddity) or not _FITS[duckdb_type](value):
        return expected(duckdb_type)
    return None


def expected(duckdb_type: str) -> str:
    """What a quarantine row says of a value that is not of the type."""
    return f"{_EXPECTED[duckdb_type]} was expected"


def unwritable(value: Any) -> str | None:  # noqa: ANN401 - any JSON
    """Why a value cannot be written as JSON, if so."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return "it holds half of a Unicode pair"
    except (TypeError, ValueError, RecursionError):
        return "it holds what JSON does not have"
    return None


def _is_whole(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return whole(value) is not None


def _is_flag(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, int) and value in {0, 1}


def _is_decimal(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str) or (_is_number(value) and abs(value) < _DECIMAL_LIMIT)


def _is_double(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str) or (_is_number(value) and abs(value) < 2**1023)


def _is_number(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str | int | float)


def _is_date(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str) and _DATE.fullmatch(value) is not None


def _is_timestamp(value: Any) -> bool:  # noqa: ANN401 - any JSON
    return isinstance(value, str)


_FITS: dict[str, Callable[[Any], bool]] = {
    "BIGINT": _is_whole,
    "BOOLEAN": _is_flag,
    "DECIMAL(18,4)": _is_decimal,
    "DOUBLE": _is_double,
    "TIMESTAMP WITH TIME ZONE": _is_timestamp,
    "DATE": _is_date,
    "VARCHAR": _is_text,
}
