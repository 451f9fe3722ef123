"""Recognise whole numbers and ids: one rule for pages, answers to creates, tables, files and commands.

PHP sometimes writes a number as text, or an integer as a float.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_WHOLE = re.compile(r"-?[0-9]{1,19}")
INT64 = range(-(2**63), 2**63)
"""The range of a BIGINT and of the state store."""
LARGEST_ID = INT64[-1]


def whole(value: Any) -> int | None:  # noqa: ANN401 - any JSON
    """Return the whole number for a value: 12 for 12, "12" and 12.0; None for 12.5 and beyond 64 bits."""
    if isinstance(value, int):
        return value if value in INT64 and not isinstance(value, bool) else None
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) and int(value) in INT64 else None
    if isinstance(value, float | Decimal):
        number = float(value)  # a Decimal too, since the tables read a float
        return int(number) if number.is_integer() and abs(number) <= 2**53 else None
    return None


def identity(value: Any) -> int | None:  # noqa: ANN401 - any JSON
    """Return the id for a value: a whole number that is not negative; None for anything else."""
    number = whole(value)
    return number if number is not None and number >= 0 else None
