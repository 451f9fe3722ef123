"""What is a whole number, ids above all: one answer for what the tables take and for whom ``forget`` finds.

PHP writes a number as text now and then, and a float where it means an integer.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

_WHOLE = re.compile(r"-?[0-9]{1,19}")
INT64 = range(-(2**63), 2**63)


def whole(value: Any) -> int | None:  # noqa: ANN401 - any JSON
    """The whole number that a value is, or is written as: 12, "12" and 12.0 are 12, and 12.5 is none."""
    if isinstance(value, int):
        return value if value in INT64 and not isinstance(value, bool) else None
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) and int(value) in INT64 else None
    if isinstance(value, float | Decimal):
        number = float(value)  # also of a Decimal: the tables read a float
        return int(number) if number.is_integer() and abs(number) <= 2**53 else None
    return None
