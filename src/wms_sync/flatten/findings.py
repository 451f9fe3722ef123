"""What is found in a page that does not fit the types: rows of ``ops.quarantine`` and ``ops.schema_drift``.

Personal data lies in schema ``pii`` and in raw pages only: what a finding shows is without it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from wms_sync.privacy.fields import KEPT, OF_ADDRESSES, PERSON, PLACES
from wms_sync.privacy.scrub import scrub
from wms_sync.privacy.watched import speaks_of_somebody

TEXT_LIMIT = 2000
WITHHELD = "(personal: in the raw page)"


@dataclass(frozen=True)
class Oddity:
    """A number that Python reads and neither JSON nor a DOUBLE has: NaN, Infinity, 1e400."""

    text: str


@dataclass(frozen=True)
class Misfit:
    """A value or a record that was put aside. ``path`` is a JSON path, ``text`` the value as JSON, cut."""

    object: str
    object_id: int | None
    path: str
    text: str
    why: str


UNKNOWN_KEY = "no type knows the key"


@dataclass
class Drift:
    """How the service differs from ``sql/types``: a key that the type ``holder`` does not know, or one of a known key
    whose value was taken in another form than it came in. A holder is ``Order``, ``Order.weight``, ``included``...
    """

    holder: str
    key: str
    example: str
    occurrences: int
    why: str = UNKNOWN_KEY

    @property
    def path(self) -> str:
        """``Order.gift_wrap``."""
        return writable(f"{self.holder}.{self.key}")


def whole_page(content: bytes, why: str) -> Misfit:
    """A page of which nothing can be read."""
    return Misfit("Page", None, "$", piece_of(content, content[:TEXT_LIMIT]), why)


def piece_of(content: bytes, piece: bytes) -> str:
    """A part of a page that cannot be told apart into values."""
    return WITHHELD if speaks_of_somebody(content) else piece.decode(errors="replace")


def shown(value: Any, holder: str, key: str) -> str:  # noqa: ANN401 - any JSON
    """A value as JSON, cut; ``holder`` and ``key`` are where it stands."""
    kept = KEPT.get(holder)
    personal = key in PERSON or key in PLACES or key in KEPT or (kept is not None and key not in kept)
    return WITHHELD if personal else as_text(value)


def as_text(value: Any) -> str:  # noqa: ANN401 - any JSON
    """A value as JSON, without persons that stand in it, cut."""
    if isinstance(value, Oddity):
        return value.text
    text = _dumped(value)
    if isinstance(value, dict | list):
        copied = json.loads(text)
        if scrub(copied):
            text = _dumped(copied)
    return writable(text)[:TEXT_LIMIT]


def pairs_as_text(pairs: list[tuple[str, Any]]) -> str:
    """An object of which a key stands twice."""
    found = dict(pairs)
    if found.get("type") in tuple(KEPT) or not (PERSON | OF_ADDRESSES).isdisjoint(found):
        return WITHHELD
    return as_text([list(pair) for pair in pairs])


def _dumped(value: Any) -> str:  # noqa: ANN401 - any JSON
    return json.dumps(value, ensure_ascii=False, default=lambda oddity: oddity.text)


def writable(text: str) -> str:
    """The text with halves of Unicode pairs escaped."""
    return text.encode(errors="backslashreplace").decode()
