"""Findings on a page that does not fit the types: rows of ``ops.quarantine`` and ``ops.schema_drift``.

Personal data may be only in schema ``pii`` and in raw pages, so a finding shows none.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

from wms_sync.json_values import shallow
from wms_sync.privacy.detection import mentions_person
from wms_sync.privacy.fields import OF_ADDRESSES, PERSON, PLACES, STRICTLY_KEPT
from wms_sync.privacy.scrub import scrub

TEXT_LIMIT = 2000
WITHHELD = "(personal data withheld: see the raw page)"


class NonFiniteNumber(Struct, frozen=True):
    """A number that Python's parser accepts but JSON or a DOUBLE cannot hold: NaN, Infinity, 1e400."""

    text: str


class Misfit(Struct, frozen=True):
    """A value or record that did not fit its type: a row of ``ops.quarantine``.

    ``path`` is a JSON path, ``text`` the value as JSON, truncated to ``TEXT_LIMIT`` characters.
    """

    object: str
    object_id: int | None
    path: str
    text: str
    why: str


UNKNOWN_KEY = "no type has the key"


class Drift(Struct):
    """A difference between the service and ``sql/types``: a row of ``ops.schema_drift``.

    Either the type ``holder`` does not have the key, or values of a known key were cast. Examples of a holder:
    ``Order``, ``Order.weight``, ``included``.
    """

    holder: str
    key: str
    example: str
    occurrences: int
    why: str = UNKNOWN_KEY

    @property
    def path(self) -> str:
        """Return holder and key, such as ``Order.gift_wrap``."""
        return with_surrogates_escaped(f"{self.holder}.{self.key}")


def whole_page(content: bytes, why: str) -> Misfit:
    """Return the misfit for a page from which nothing can be read."""
    return Misfit("Page", None, "$", piece_of(content, content[:TEXT_LIMIT]), why)


def piece_of(content: bytes, piece: bytes) -> str:
    """Return a piece of an unparsable page as text, or ``WITHHELD`` if the page has a key of personal data."""
    return WITHHELD if mentions_person(content) else piece.decode(errors="replace")


def shown(value: Any, holder: str, key: str) -> str:  # noqa: ANN401 - any JSON
    """Return a value as truncated JSON, or ``WITHHELD`` if it is personal at this key of ``holder``."""
    kept = STRICTLY_KEPT.get(holder)
    personal = key in PERSON or key in PLACES or key in STRICTLY_KEPT or (kept is not None and key not in kept)
    return WITHHELD if personal else as_text(value)


def as_text(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return a value as truncated JSON, with personal data inside it removed."""
    if isinstance(value, NonFiniteNumber):
        return value.text
    try:
        return _without_persons(value)
    except RecursionError:
        return _without_persons(shallow(value))


def _without_persons(value: Any) -> str:  # noqa: ANN401 - any JSON
    text = _dumped(value)
    if isinstance(value, dict | list):
        copied = json.loads(text)
        if scrub(copied, table=STRICTLY_KEPT):
            text = _dumped(copied)
    return with_surrogates_escaped(text)[:TEXT_LIMIT]


def pairs_as_text(pairs: list[tuple[str, Any]]) -> str:
    """Return an object with a repeated key as a truncated JSON list of pairs, or ``WITHHELD`` if it is personal."""
    found = dict(pairs)
    if found.get("type") in tuple(STRICTLY_KEPT) or not (PERSON | OF_ADDRESSES).isdisjoint(found):
        return WITHHELD
    return as_text([list(pair) for pair in pairs])


def _dumped(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, ensure_ascii=False, default=lambda number: number.text)


def with_surrogates_escaped(text: str) -> str:
    """Return the text with lone surrogates escaped, so that it can be encoded as UTF-8."""
    return text.encode(errors="backslashreplace").decode()
