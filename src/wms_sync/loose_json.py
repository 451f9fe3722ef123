"""JSON as loosely as a page is read that is not strict: ``NaN``, control characters in texts, numbers without end.

One value must not make a whole page unreadable.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_MOST_DIGITS = 4000
"""Python refuses to read longer numbers, and the whole text with them."""


def loosely(text: str, endless: Callable[[str], Any] = float, **hooks: Any) -> Any:  # noqa: ANN401 - any JSON
    """The text decoded; ``endless`` makes something of a number that is too long, ``hooks`` are those of ``json``."""

    def whole(digits: str) -> Any:  # noqa: ANN401 - whatever endless makes
        return int(digits) if len(digits) < _MOST_DIGITS else endless(digits)

    return json.loads(text, strict=False, parse_int=whole, **hooks)
