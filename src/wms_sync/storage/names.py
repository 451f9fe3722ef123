"""Names that carry what is in a file: ``page-00005.json.gz`` becomes ``page-00005-1f3a9c04.json.gz``."""

from __future__ import annotations

import hashlib
import re

_DIGITS = 8
_MARK = re.compile(rf"-[0-9a-f]{{{_DIGITS}}}(?=\.)")


def marked(key: str, content: bytes) -> str:
    """Return the key with the first digits of the content's SHA-256, in place of those that it may have."""
    folder, _, name = key.rpartition("/")
    stem, _, suffix = unmarked(name).partition(".")
    return f"{folder}/{stem}-{hashlib.sha256(content).hexdigest()[:_DIGITS]}.{suffix}"


def unmarked(name: str) -> str:
    """Return the name without such digits."""
    return _MARK.sub("", name)
