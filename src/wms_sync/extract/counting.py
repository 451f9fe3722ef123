"""Whether the service's counts can be relied on, and cutting an interval by them into windows.

A count that ignores the filter was never seen, and the specification does not exclude it: every part of an interval
would then count as many as the whole, and cutting would go on to single seconds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from wms_sync.api.shipments import ShipmentListing
from wms_sync.extract.warnings import Warnings
from wms_sync.intervals import Interval, slices

Slice = tuple[Interval, int]
UNKNOWN = 0
"""How many records there are where counts tell nothing: none is waited for, and no room on the disk asked for."""
INSTEAD = (
    "Windows are proved complete by listing their ids once more instead, and are not cut into parts; how much is to "
    "come is not known."
)
MOST_PARTS = 64
FAR_MORE = 2
"""So many times the count of a whole is more than its parts can come to while it is counted."""


class Counts:
    """What the counts of one run are worth; asks the service at most once."""

    def __init__(self, listing: ShipmentListing, warnings: Warnings) -> None:
        self._listing = listing
        self._warnings = warnings
        self._lock = threading.Lock()
        self._reliable: bool | None = None

    def are_reliable(self) -> bool:
        """Whether a count is of what was asked for; one that is not is warned of."""
        with self._lock:
            if self._reliable is None:
                self._reliable = self._listing.counts_by_filter()
        if not self._reliable:
            self._warn()
        return self._reliable

    def distrust(self) -> None:
        """They contradict each other."""
        with self._lock:
            self._reliable = False
        self._warn()

    def lack(self) -> None:
        """The service was asked to count and did not."""
        self._warnings.warn(f"The service gives no counts (meta.count), though count=1 was asked for. {INSTEAD}")

    def _warn(self) -> None:
        self._warnings.warn(f"The service's counts (meta.count) are not of what was asked for. {INSTEAD}")


class Cutting:
    """Cuts intervals into slices of at most ``limit`` records each with their counts, by ``parallel`` requests."""

    def __init__(self, listing: ShipmentListing, counts: Counts, *, limit: int, parallel: int) -> None:
        self._listing = listing
        self._counts = counts
        self._limit = limit
        self._parallel = parallel

    def cut(self, whole: Interval, count: int | None) -> list[Slice]:
        """The slices of one interval, of which quiet neighbours are joined; ``count`` where it is known."""
        if count is None:
            count, _ = self._listing.count(whole.start, whole.end)
        if count is None:
            self._counts.lack()
            return [(whole, UNKNOWN)]
        if count > self._limit and not self._counts.are_reliable():
            return [(whole, UNKNOWN)]
        with ThreadPoolExecutor(self._parallel, "count") as pool:
            return _joined(self._slices(whole, count, pool), self._limit)

    def _slices(self, whole: Interval, count: int, pool: ThreadPoolExecutor) -> list[Slice]:
        parts = slices(whole, min(MOST_PARTS, -(-count // self._limit)))
        if count <= self._limit or len(parts) == 1:
            return [(whole, count)]
        counts = [count or 0 for count, _ in pool.map(lambda part: self._listing.count(part.start, part.end), parts)]
        if sum(counts) >= FAR_MORE * count:
            self._counts.distrust()
            return [(whole, UNKNOWN)]
        return [leaf for part, within in zip(parts, counts, strict=True) for leaf in self._slices(part, within, pool)]


def _joined(leaves: Iterable[Slice], limit: int) -> list[Slice]:
    joined: list[Slice] = []
    for part, count in leaves:
        if joined and joined[-1][0].end == part.start and joined[-1][1] + count <= limit:
            before, already = joined.pop()
            joined.append((Interval(before.start, part.end), already + count))
        else:
            joined.append((part, count))
    return joined
