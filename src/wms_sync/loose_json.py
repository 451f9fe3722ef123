"""Parse JSON leniently: allow ``NaN``, control characters in texts, and numbers that are too long.

One bad value must not make a whole page unreadable.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_MOST_DIGITS = 4000
"""Python refuses integers with more digits than about this, and the whole text with them."""


def loosely(text: str, endless: Callable[[str], Any] = float, **hooks: Any) -> Any:  # noqa: ANN401 - any JSON
    """Parse the text. ``endless`` converts an integer that is too long; ``hooks`` are those of ``json.loads``."""

    def whole(digits: str) -> Any:  # noqa: ANN401 - whatever endless makes
        return int(digits) if len(digits) < _MOST_DIGITS else endless(digits)

    return json.loads(text, strict=False, parse_int=whole, **hooks)
