"""Search a part of a page for marks of personal data, without decoding it.

Marks are the keys of persons, and the kinds and keys under which personal fields stand. Every page is full of those
that are harmless: references (``{"type":"OrderAddress","id":5}``), empty places, lists of references. Whatever differs
from these counts as a mark. Measured on a page of 7.3 MB: 3 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from wms_sync.privacy.fields import KEPT, PERSON, PLACES
from wms_sync.privacy.search import Pattern

_BLANK = r" \t\n\r"
_ESCAPED = r"\\u00(?:4[1-9a-fA-F]|5[0-9aAfF]|6[1-9a-fA-F]|7[0-9aA])"
"""A letter or underscore written as an escape."""

_Steps = list[tuple[str, str]]
"""A text as the patterns of its steps, each with the pattern of anything else in its place."""


def _token(text: str) -> _Steps:
    """Return the steps of a text that may have blanks before it."""
    first, *rest = map(re.escape, text)
    return [(f"[{_BLANK}]*{first}", f"[{_BLANK}]*[^{_BLANK}{first}]"), *((one, f"[^{one}]") for one in rest)]


def _unlike(steps: Iterable[tuple[str, str]]) -> str:
    """Return the pattern of a text that differs from the steps at any of them."""
    *before, (_, pattern) = steps
    for same, different in reversed(before):
        pattern = f"(?:{different}|{same}{pattern})"
    return pattern


_ID: _Steps = [
    *(step for token in (",", '"id"', ":") for step in _token(token)),
    (f"[{_BLANK}]*[0-9]+", f"[{_BLANK}]*[^{_BLANK}0-9]"),
    (f"[{_BLANK}]*\\}}", f"[{_BLANK}]*[^{_BLANK}0-9}}]"),
]
_TYPE_AND_ID: _Steps = [
    *(step for token in ('"type"', ":", '"') for step in _token(token)),
    ("[A-Za-z]+", "[^A-Za-z]"),
    ('"', '[^A-Za-z"]'),
    *_ID,
]
_REFERENCE = r"\{" + "".join(same for same, _ in _TYPE_AND_ID)
_NO_REFERENCE = rf"\{{{_unlike(_TYPE_AND_ID)}"


def _marks() -> Iterator[str]:
    blanks, kinds = f"[{_BLANK}]*", "|".join(sorted(KEPT))
    yield rf'"(?:{"|".join(sorted(PERSON))})"\s*:'
    yield rf'"(?:{kinds})"{_unlike(_ID)}'
    for before in (",", f"[{_BLANK}]"):  # the type is not the first field
        yield rf'{before}"type"{blanks}:{blanks}"(?:{kinds})"'
    items = rf"(?:{blanks}{_REFERENCE}{blanks},)*{blanks}"
    no_items = rf"\[{items}(?:[^{_BLANK}\]{{]|{_NO_REFERENCE}|{_REFERENCE}{blanks}[^{_BLANK},\]])"
    yield rf'"(?:{"|".join(sorted(PLACES))})"{blanks}:{blanks}(?:[^{_BLANK}n{{\[]|{_NO_REFERENCE}|{no_items})'


@cache
def _odd() -> Pattern:
    return Pattern(_ESCAPED)


@cache
def _marked() -> Pattern:
    return Pattern("|".join((*_marks(), _ESCAPED)))  # the escape is never there, but the search is faster with it


def is_odd(text: bytes) -> bool:
    """Return whether marks could be missed in a text: it is not UTF-8, or a letter is written as an escape."""
    return _odd().may_be_in(text)


def is_marked(value: bytes) -> bool:
    """Return whether a JSON value, not of an odd text, may hold personal data. False is certain."""
    return _marked().may_be_in(value)
