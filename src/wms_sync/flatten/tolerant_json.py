"""JSON as Python reads it, with what is wrong in it noted instead of refused.

Bytes that are not UTF-8 are replaced, a byte order mark is dropped, of a key that stands twice the last counts, NaN and
numbers beyond a DOUBLE become an ``Oddity``. Control characters stay in texts. Nesting that no reader follows is cut.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from wms_sync.flatten.findings import Misfit, Oddity, pairs_as_text, piece_of, whole_page
from wms_sync.loose_json import loosely
from wms_sync.shallow_json import DEPTH, cut_to_depth

_HALF_OF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass
class Parsed:
    """``document`` is None when the content is no JSON; ``odd`` when it may hold NaN or halves of Unicode pairs."""

    document: Any = None
    odd: bool = False
    misfits: list[Misfit] = field(default_factory=list)

    def read(self, content: bytes) -> Parsed:
        """Read the content into this value."""
        text = self._decoded(content)
        self.odd = _HALF_OF_A_PAIR.search(text) is not None
        try:
            self.document = self._parsed(text)
        except RecursionError:
            why = f"nested too deep: what stood below {DEPTH} levels is null"
            self.misfits = [Misfit("Page", None, "$", "", why)]
            self.document = self._parsed(cut_to_depth(text.encode()).decode())
        except ValueError as error:
            self.misfits.append(whole_page(content, f"not JSON: {error}"))
        return self

    def _parsed(self, text: str) -> Any:  # noqa: ANN401 - any JSON
        return loosely(
            text,
            self._oddity,
            parse_constant=self._oddity,
            parse_float=self._float,
            object_pairs_hook=self._object,
        )

    def _decoded(self, content: bytes) -> str:
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            around = piece_of(content, content[max(0, error.start - 100) : error.start + 100])
            self.misfits.append(Misfit("Page", None, "$", around, f"not UTF-8 at byte {error.start}: replaced"))
            return content.decode("utf-8", errors="replace")

    def _oddity(self, text: str) -> Oddity:
        self.odd = True
        return Oddity(text)

    def _float(self, text: str) -> float | Oddity:
        number = float(text)
        return number if math.isfinite(number) else self._oddity(text)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            why = "a key stands twice in one object: the last was kept"
            self.misfits.append(Misfit("Page", None, "$", pairs_as_text(pairs), why))
        return found
