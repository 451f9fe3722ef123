"""Tracking numbers as text, for filters: a function of the shipment's family, index and revision."""

import re

from wms_sync.sandbox.families import make_family
from wms_sync.sandbox.heads import MOST_PACKAGES
from wms_sync.sandbox.slots import POSITION, slot_rows
from wms_sync.sandbox.store import Indexes, Store

_PIECES = re.compile(r"^(.*)\{\{(\w+)\}\}(.*)$", re.DOTALL)

Pieces = tuple[str, int, str] | None
"""What stands before the number, the number's slot, what stands behind it."""


class TrackingNumbers:
    """Both tracking numbers of every package that a shipment shows now."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pieces: dict[int, list[dict[str, list[Pieces]]]] = {}

    def of(self, at: Indexes, field: str) -> list[list[str]]:
        """For each shipment the numbers in `tracking_ref` or `alt_tracking_number` of its packages."""
        found: list[list[str]] = []
        for start in range(0, len(at), 10_000):
            chunk = at[start : start + 10_000]
            rows = slot_rows(self._store, chunk)
            found += [self._numbers(index, row, field) for index, row in zip(chunk.tolist(), rows, strict=True)]
        return found

    def _numbers(self, index: int, row: tuple[object, ...], field: str) -> list[str]:
        family, part = int(self._store.family[index]), int(self._store.part[index])
        pieces = self._of_family(family)[part][field][: int(self._store.shown[index])]
        return [f"{piece[0]}{row[piece[1]]}{piece[2]}" for piece in pieces if piece]

    def _of_family(self, family: int) -> list[dict[str, list[Pieces]]]:
        if family not in self._pieces:
            made = make_family(self._store.seed, family)
            self._pieces[family] = [
                {
                    field: [_cut(package.package.get(field)) for package in part.packages(MOST_PACKAGES)]
                    for field in ("tracking_ref", "alt_tracking_number")
                }
                for part in made.shipments
            ]
        return self._pieces[family]


def _cut(text: str | None) -> Pieces:
    found = _PIECES.match(text or "")
    return (found[1], POSITION[found[2]], found[3]) if found else None
