"""Decode the JSON of an answer that is no page: a byte order mark is dropped, and nesting that is too deep is cut.

Pages have their own reader (``envelope``), which keeps them as received.
"""

from __future__ import annotations

import codecs
from typing import TypeVar

import msgspec

from wms_sync.shallow_json import cut_to_depth

T = TypeVar("T")


def decoded(content: bytes, shape: type[T]) -> T:
    """Return what the content says as a ``shape``. Raises ``msgspec.DecodeError`` or ``UnicodeDecodeError``."""
    plain = content.removeprefix(codecs.BOM_UTF8)
    try:
        return msgspec.json.decode(plain, type=shape)
    except RecursionError:
        return msgspec.json.decode(cut_to_depth(plain), type=shape)
