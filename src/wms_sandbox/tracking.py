"""Tracking numbers as text, for filters: a function of the shipment's family, index and revision."""

import re

import numpy as np

from wms_sandbox.families import make_family
from wms_sandbox.heads import MOST_PACKAGES
from wms_sandbox.slots import ALTERNATIVE, tracking_number
from wms_sandbox.store import Indexes, Store

_PIECES = re.compile(r"(.*)\{\{\w+\}\}(.*)", re.DOTALL)

Pieces = tuple[str, str] | None
"""The text before and after the number; None if a package has no number."""

_FIELDS = {"tracking_number": ("tracking_ref", 0), "alt_tracking_number": ("alt_tracking_number", ALTERNATIVE)}
"""By filter field: the field of the package, and the number added to its digits."""


class TrackingNumbers:
    """The tracking numbers of every package that a shipment shows now."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pieces: dict[tuple[int, int, str], list[Pieces]] = {}

    def of(self, at: Indexes, field: str) -> list[list[str]]:
        """Return for each shipment the numbers that a filter's field refers to."""
        store, (name, shift) = self._store, _FIELDS[field]
        ids, revisions = store.ids[at], store.revision[at].astype(np.int64)
        digits = [(tracking_number(ids, revisions, k) + shift).tolist() for k in range(MOST_PACKAGES)]
        columns = (store.family[at].tolist(), store.part[at].tolist(), store.shown[at].tolist())
        found: list[list[str]] = []
        for row, (family, part, shown) in enumerate(zip(*columns, strict=True)):
            pieces = self._pieces.get((family, part, name)) or self._cut(family, part, name)
            found.append([f"{piece[0]}{digits[k][row]}{piece[1]}" for k, piece in enumerate(pieces[:shown]) if piece])
        return found

    def _cut(self, family: int, part: int, name: str) -> list[Pieces]:
        made = make_family(self._store.seed, self._store.heads[family])
        packages = made.shipments[part].packages(MOST_PACKAGES)
        marked = [_PIECES.fullmatch(package.package.get(name) or "") for package in packages]
        self._pieces[family, part, name] = [mark and (mark[1], mark[2]) for mark in marked]
        return self._pieces[family, part, name]
