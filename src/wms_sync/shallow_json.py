"""JSON that is nested too deep for any reader, cut to a depth that all of them take.

A value inside a value inside a value, thousands of times, makes readers refuse the whole text, and a page that cannot
be read would stop every sync that meets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

DEPTH = 256
"""Half of what PHP writes at most; 12 levels are the deepest that the specification has."""
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def cut_to_depth(content: bytes) -> bytes:
    """The text with null for every list and object that stands deeper than ``DEPTH``."""
    return b"".join(_kept(content))


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
