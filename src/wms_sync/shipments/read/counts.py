"""Check whether the service's counts are reliable, and cut an interval into windows by them.

The specification does not rule out a count that ignores the filter; none has been observed. With such a count, each
part of an interval would have the count of the whole, and cutting would continue down to single seconds.

A window with a few records beyond its last full page costs a request for a nearly empty page, and a window that is read
last and alone leaves lanes idle. So windows have nearly full pages, and the last windows are smaller: usually one for
each lane, never more.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise

from wms_sync.intervals import Interval, slices
from wms_sync.service.errors import Rejected
from wms_sync.service.shipments import ShipmentListing
from wms_sync.shipments.read.progress import Warnings

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""A time before every date that a shipment can have."""
UNKNOWN = 0
"""The expected number of records if counts are unreliable; progress and disk space are not estimated then."""
INSTEAD = (
    "Instead, each window is proved complete by listing its ids again, and is not cut into parts. The remaining amount "
    "is unknown, and it is not noticed if the service's lists are too short for a while."
)
PAGES_PER_WINDOW = 10
COARSE = 1.5
"""A slice with more records than this many full windows is counted in parts."""
LEAST_PARTS, MOST_PARTS = 3, 64
FAR_MORE = 2
"""If the parts add up to this multiple of the whole, the counts are wrong: concurrent changes cannot explain it."""
Slice = tuple[Interval, int]
"""An interval and the number of records in it."""
SLACK = 0.15
"""The share of a page that stays free in each window, because positions between two counts are estimated."""


class Counts:
    """Determines whether the counts of one run are reliable, with at most one request."""

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

    def outside_dates(self) -> int | None:
        """Return the number of shipments that a filter on all dates misses; None if the service does not count."""
        try:
            everything, dated = self._listing.count_ids(0, None), self._listing.count(EPOCH, None).count
        except Rejected:  # filters on id cannot be used
            return None
        return None if everything is None or dated is None else max(0, everything - dated)

    def distrust(self) -> None:
        """Treat counts as unreliable from now on, because they contradict each other, and warn."""
        with self._lock:
            self._reliable = False
        self._warn()

    def warn_of_none(self) -> None:
        """Warn that the service did not count although a count was requested."""
        text = f"The service gives no counts (meta.count), although count=1 was requested. {INSTEAD}"
        self._warnings.warn("no-counts", text)

    def _warn(self) -> None:
        self._warnings.warn(
            "wrong-counts",
            "The service's counts (meta.count) do not add up: they ignore the filter, or are cut off at a number that "
            f"its lists exceed. {INSTEAD}",
        )


class IntervalCutter:
    """Cuts intervals into windows of about ``PAGES_PER_WINDOW`` full pages, by counts.

    ``lanes`` is the number of windows to read, and of counts to request, at a time.
    """

    def __init__(self, listing: ShipmentListing, counts: Counts, *, page_size: int, lanes: int) -> None:
        self._listing = listing
        self._counts = counts
        self._page_size = page_size
        self._lanes = lanes
        self._coarse = int(COARSE * PAGES_PER_WINDOW * page_size)

    def cut(self, whole: Interval, count: int | None) -> list[Slice]:
        """Return the windows of an interval, each with its expected number of records.

        ``count`` is the number of records in the whole interval, if it is known.
        """
        if count is None:
            count = self._listing.count(whole.start, whole.end).count
        if count is None:
            self._counts.warn_of_none()
            return [(whole, UNKNOWN)]
        if count <= PAGES_PER_WINDOW * self._page_size:
            return [(whole, count)]
        counted = self._counted(whole, count) if self._counts.are_reliable() else None
        if counted is None:
            return [(whole, UNKNOWN)]
        return even_windows(counted, page_size=self._page_size, pages=PAGES_PER_WINDOW, lanes=self._lanes)

    def _counted(self, whole: Interval, count: int) -> list[Slice] | None:
        """Return slices with few records each; None if counts contradict each other or are missing."""
        counted, most = [(whole, count)], 0  # 0: the whole is always counted in parts
        with ThreadPoolExecutor(self._lanes, "count") as pool, self._listing.cut_by_interrupts():
            while large := {
                slice_: parts for slice_ in counted if slice_[1] > most and len(parts := self._parts(*slice_)) > 1
            }:
                asked = [part for parts in large.values() for part in parts[:-1]]
                answers = pool.map(lambda part: self._listing.count(part.start, part.end).count, asked)
                found = dict(zip(asked, answers, strict=True))
                if None in found.values():
                    self._counts.warn_of_none()
                    return None
                within = {part: number for part, number in found.items() if number is not None}
                if any(
                    sum(within[part] for part in parts[:-1]) >= FAR_MORE * slice_[1] for slice_, parts in large.items()
                ):
                    self._counts.distrust()
                    return None
                counted = [leaf for slice_ in counted for leaf in _leaves(slice_, large.get(slice_, ()), within)]
                most = self._coarse
        return counted

    def _parts(self, whole: Interval, count: int) -> tuple[Interval, ...]:
        """Return the parts in which to count a slice; a single part if it is shorter than 2 s."""
        return slices(whole, min(MOST_PARTS, max(LEAST_PARTS, -(-count // self._coarse))))


def _leaves(whole: Slice, parts: Sequence[Interval], within: Mapping[Interval, int]) -> list[Slice]:
    """Return the parts with their counts; the count of the last part is computed from the others, without a request."""
    if not parts:
        return [whole]
    leaves = [(part, within[part]) for part in parts[:-1]]
    return [*leaves, (parts[-1], max(0, whole[1] - sum(count for _, count in leaves)))]


def even_windows(counted: Sequence[Slice], *, page_size: int, pages: int, lanes: int) -> list[Slice]:
    """Return windows of about ``pages`` full pages, ordered by time, each with its expected number of records.

    ``counted`` are adjacent slices, whose records are assumed to be spread evenly. Later windows may be smaller: their
    records are the newest, and most likely to change meanwhile.
    """
    total = sum(count for _, count in counted)
    if total <= pages * page_size:
        return [(Interval(counted[0][0].start, counted[-1][0].end), total)]
    reached = [0, *accumulate(count for _, count in counted)]
    cuts = {counted[0][0].start: 0}
    for end in accumulate(_sizes(total, page_size, pages, lanes)):
        part, count = counted[at := bisect_left(reached, end) - 1]
        seconds = int(part.length.total_seconds() * (end - reached[at]) / count)
        cuts.setdefault(part.start + timedelta(seconds=seconds), end)
    bounds = [*cuts.items(), (counted[-1][0].end, total)]
    return [(Interval(start, end), after - before) for (start, before), (end, after) in pairwise(bounds)]


def _sizes(total: int, page_size: int, pages: int, lanes: int) -> list[int]:
    """Return the number of records for each window but the last, which takes the rest; large windows come first."""
    slack = int(SLACK * page_size)
    large = max(1, pages * page_size - slack)
    rounds = _up(total, large * lanes) - 1
    rest = total - rounds * lanes * large
    small = max(1, _up(_up(rest, lanes) + slack, page_size) * page_size - slack)
    return [large] * (rounds * lanes) + [small] * (_up(rest - slack, small) - 1)


def _up(number: int, by: int) -> int:
    """Divide and round up."""
    return -(-number // by)
