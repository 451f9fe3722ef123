"""Cut JSON that is nested too deeply to a depth that every parser accepts.

Parsers refuse a text with thousands of nested values as a whole, and an unreadable page would stop every sync that
reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

DEPTH = 256
"""Half of the maximum that PHP writes; the specification has at most 12 levels."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def cut_to_depth(content: bytes) -> bytes:
    """Return the text with null for every list and object below ``DEPTH`` levels."""
    return b"".join(_kept(content))


def shallow(value: Any, depth: int = DEPTH) -> Any:  # noqa: ANN401 - any JSON
    """Return a parsed value with None for every list and object below ``depth`` levels.

    Python parses a thousand levels, and can do less with what it has parsed.
    """
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        return None
    if isinstance(value, list):
        return [shallow(one, depth - 1) for one in value]
    return {key: shallow(one, depth - 1) for key, one in value.items()}


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
