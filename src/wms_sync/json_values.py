"""Read unusual JSON: whole numbers in any form, values that parsers refuse, and nesting that is too deep.

The same rules apply to pages, answers to creates, tables, files and commands. PHP sometimes writes a number as text, or
an integer as a float. One bad value must not make a whole page unreadable, and a value with thousands of levels must
not stop every sync that reads it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

_WHOLE = re.compile(r"-?[0-9]{1,19}")
INT64 = range(-(2**63), 2**63)
"""The range of a BIGINT and of the state store."""
LARGEST_ID = INT64[-1]
_MOST_DIGITS = 4000
"""Integers of this length or more are not parsed as integers: above 4,300 digits Python would refuse the whole text."""
DEPTH = 256
"""The maximum number of levels: half of what PHP writes. The records of the specification have at most 12 levels."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def whole(value: Any) -> int | None:  # noqa: ANN401 - any JSON
    """Return a value as a whole number: 12 for 12, "12", 12.0; None for 12.5, over 64 bits, and floats over 2**53."""
    if isinstance(value, int):
        return value if value in INT64 and not isinstance(value, bool) else None
    if isinstance(value, str):
        return int(value) if _WHOLE.fullmatch(value) and int(value) in INT64 else None
    if isinstance(value, float | Decimal):
        number = float(value)  # a Decimal too, because the tables read a float
        return int(number) if number.is_integer() and abs(number) <= 2**53 else None
    return None


def identity(value: Any) -> int | None:  # noqa: ANN401 - any JSON
    """Return a value as an id, a whole number that is not negative; None for anything else."""
    number = whole(value)
    return number if number is not None and number >= 0 else None


def loosely(text: str, endless: Callable[[str], Any] = float, **hooks: Any) -> Any:  # noqa: ANN401 - any JSON
    """Parse JSON text. ``endless`` converts an integer that is too long; ``hooks`` are those of ``json.loads``."""

    def whole(digits: str) -> Any:  # noqa: ANN401 - whatever endless makes
        return int(digits) if len(digits) < _MOST_DIGITS else endless(digits)

    return json.loads(text, strict=False, parse_int=whole, **hooks)


def cut_to_depth(content: bytes) -> bytes:
    """Return JSON text with null in place of every list and object that is nested deeper than ``DEPTH`` levels."""
    return b"".join(_kept(content))


def shallow(value: Any, depth: int = DEPTH) -> Any:  # noqa: ANN401 - any JSON
    """Return a parsed value with None in place of every list and object that is nested deeper than ``depth`` levels.

    Python parses a thousand levels, but other operations on such a value fail earlier.
    """
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        return None
    if isinstance(value, list):
        return [shallow(element, depth - 1) for element in value]
    return {key: shallow(element, depth - 1) for key, element in value.items()}


def _kept(content: bytes) -> Iterator[bytes]:
    depth, kept_to = 0, 0
    for token in _TOKEN.finditer(content):
        if token[0] in b"[{":
            depth += 1
            if depth == DEPTH + 1:
                yield content[kept_to : token.start()]
                yield b"null"
        elif token[0] in b"]}":
            if depth == DEPTH + 1:
                kept_to = token.end()
            depth -= 1
    if depth <= DEPTH:
        yield content[kept_to:]
