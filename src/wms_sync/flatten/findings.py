"""What is found in a page that does not fit the types: rows of ``ops.quarantine`` and ``ops.schema_drift``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

TEXT_LIMIT = 2000


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


@dataclass
class Drift:
    """A key that the type ``holder`` does not know (``Order``, ``Order.weight``, ``included``, ``Page``)."""

    holder: str
    key: str
    example: str
    occurrences: int

    @property
    def path(self) -> str:
        """``Order.gift_wrap``."""
        return writable(f"{self.holder}.{self.key}")


def whole_page(content: bytes, why: str) -> Misfit:
    """A page of which nothing can be read."""
    return Misfit("Page", None, "$", content[:TEXT_LIMIT].decode(errors="replace"), why)


def as_text(value: Any) -> str:  # noqa: ANN401 - any JSON
    """A value as JSON, cut."""
    if isinstance(value, Oddity):
        return value.text
    return writable(json.dumps(value, ensure_ascii=False, default=lambda oddity: oddity.text))[:TEXT_LIMIT]


def writable(text: str) -> str:
    """The text with halves of Unicode pairs escaped."""
    return text.encode(errors="backslashreplace").decode()
