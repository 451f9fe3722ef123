"""Parse JSON leniently: record its errors instead of refusing it.

Bytes that are not UTF-8 are replaced, a byte order mark is dropped, the last of duplicate keys wins, NaN and numbers
too large for a DOUBLE become a ``NonFiniteNumber``. Control characters stay in texts. Nesting that is too deep is cut.
"""

from __future__ import annotations

import math
import re
from typing import Any

from msgspec import Struct, field

from wms_sync.json_values import DEPTH, cut_to_depth, loosely
from wms_sync.shipments.flatten.findings import Misfit, NonFiniteNumber, pairs_as_text, piece_of, whole_page

_HALF_OF_A_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class Parsed(Struct):
    """A parsed page. ``document`` is None if the content is not JSON.

    ``odd`` is true if the document may contain ``NonFiniteNumber`` or lone surrogates.
    """

    document: Any = None
    odd: bool = False
    misfits: list[Misfit] = field(default_factory=list)

    def read(self, content: bytes) -> Parsed:
        """Parse the content into this object and return it."""
        text = self._decoded(content)
        self.odd = _HALF_OF_A_PAIR.search(text) is not None
        try:
            self.document = self._parsed(text)
        except RecursionError:
            why = f"nested too deep: values below {DEPTH} levels are null"
            self.misfits = [Misfit("Page", None, "$", "", why)]
            self.document = self._parsed(cut_to_depth(text.encode()).decode())
        except ValueError as error:
            self.misfits.append(whole_page(content, f"not JSON: {error}"))
        return self

    def _parsed(self, text: str) -> Any:  # noqa: ANN401 - any JSON
        return loosely(
            text,
            self._non_finite,
            parse_constant=self._non_finite,
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

    def _non_finite(self, text: str) -> NonFiniteNumber:
        self.odd = True
        return NonFiniteNumber(text)

    def _float(self, text: str) -> float | NonFiniteNumber:
        number = float(text)
        return number if math.isfinite(number) else self._non_finite(text)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            why = "a key is repeated in one object: the last was kept"
            self.misfits.append(Misfit("Page", None, "$", pairs_as_text(pairs), why))
        return found
