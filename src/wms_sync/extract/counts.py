"""Check whether the service's counts are reliable, and cut an interval into windows by them.

The specification does not rule out a count that ignores the filter, although none was ever seen. Each part of an
interval would then have the count of the whole, and cutting would continue down to single seconds.
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
"""The expected number of records if counts are not reliable: progress and disk space are then not estimated."""
INSTEAD = (
    "Instead, windows are proved complete by listing their ids again, and are not cut into parts; the amount left to "
    "read is not known."
)
MOST_PARTS = 64
FAR_MORE = 2
"""If the parts add up to this many times the whole, the counts are wrong: changes meanwhile cannot explain it."""


class Counts:
    """Knows whether the counts of one run are reliable; asks the service at most once."""

    def __init__(self, listing: ShipmentListing, warnings: Warnings) -> None:
        self._listing = listing
        self._warnings = warnings
        self._lock = threading.Lock()
        self._reliable: bool | None = None

    def are_reliable(self) -> bool:
        """Return whether counts follow the filter; warn if they do not."""
        with self._lock:
            if self._reliable is None:
                self._reliable = self._listing.counts_by_filter()
        if not self._reliable:
            self._warn()
        return self._reliable

    def distrust(self) -> None:
        """Treat counts as unreliable from now on, because they contradict each other, and warn."""
        with self._lock:
            self._reliable = False
        self._warn()

    def warn_of_none(self) -> None:
        """Warn that the service was asked to count and did not."""
        self._warnings.warn(f"The service gives no counts (meta.count), although count=1 was requested. {INSTEAD}")

    def _warn(self) -> None:
        self._warnings.warn(f"The service's counts (meta.count) do not follow the filter. {INSTEAD}")


class IntervalCutter:
    """Cuts intervals into slices of at most ``limit`` records each, by counts from ``parallel`` requests at a time."""

    def __init__(self, listing: ShipmentListing, counts: Counts, *, limit: int, parallel: int) -> None:
        self._listing = listing
        self._counts = counts
        self._limit = limit
        self._parallel = parallel

    def cut(self, whole: Interval, count: int | None) -> list[Slice]:
        """Return the slices of an interval with their counts, joining small neighbours. ``count``: of the whole."""
        if count is None:
            count, _ = self._listing.count(whole.start, whole.end)
        if count is None:
            self._counts.warn_of_none()
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
