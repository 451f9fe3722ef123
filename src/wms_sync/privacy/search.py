"""Search a page for the keys of a person, in one fast pass over its bytes.

Each page is searched, so the search uses the Rust regex engine inside pydantic: a string validator with a pattern.
Measured on a page of 7.5 MB: 0.7 ms, against 14 ms for ``in`` with each key, 38 ms for ``re`` and 11 ms for Arrow. The
validator also rejects text that is not UTF-8; only its error tells this apart from text without a match, and checking
UTF-8 separately would take 16 ms.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Annotated

from pydantic import StringConstraints, TypeAdapter, ValidationError

from wms_sync.privacy.fields import PERSON

_ESCAPED = r"\\u00(?:5[fF]|6[1-9a-fA-F]|7[0-9aA])"
"""A lower-case letter or underscore written as an escape. JSON never needs that, and a key could hide behind it."""


class Pattern:
    """A regular expression of Rust, to be searched for in long texts.

    Rust searches fast if it can look for the first letters of the pattern; the letters before an escape help it.
    """

    def __init__(self, pattern: str) -> None:
        self._found: TypeAdapter[str] = TypeAdapter(Annotated[str, StringConstraints(pattern=pattern)])

    def may_be_in(self, text: bytes) -> bool:
        """Return whether the pattern matches somewhere; also True if the text is not UTF-8."""
        try:
            self._found.validate_python(text)
        except ValidationError as error:
            (problem,) = error.errors(include_url=False, include_context=False, include_input=False)
            return problem["type"] != "string_pattern_mismatch"
        return True


def has_person_key_outside(text: bytes, kept: bytes = b"") -> bool:
    """Return whether the text has the key of a person outside ``kept``, the parts of the text that may have such keys.

    Also returns True if the search cannot tell: a letter is written as an escape, or the text is not UTF-8.
    """
    own = frozenset(key for key in PERSON if _occurrences(key, kept))
    return _pattern(PERSON - own).may_be_in(text) or any(
        _occurrences(key, text) > _occurrences(key, kept) for key in own
    )


@cache
def _pattern(keys: frozenset[str]) -> Pattern:
    names = "|".join(sorted(keys))
    return Pattern(rf'"(?:{names})"\s*:|{_ESCAPED}' if keys else _ESCAPED)


def _occurrences(key: str, text: bytes) -> int:
    return len(re.findall(rb'"%s"\s*:' % key.encode(), text))
