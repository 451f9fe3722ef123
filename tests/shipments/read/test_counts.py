"""Windows by counts: full pages, few requests, the last ones smaller, and every moment in exactly one window."""

from bisect import bisect_left
from collections import Counter
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from wms_sync.intervals import Interval
from wms_sync.service.shipments import Counted
from wms_sync.shipments.read.counts import COARSE, PAGES_PER_WINDOW, Counts, IntervalCutter
from wms_sync.shipments.read.progress import Warnings

START = datetime(2026, 1, 1, tzinfo=UTC)
PAGE, LANES = 100, 4
LIMIT = PAGES_PER_WINDOW * PAGE


class Listing:
    """Counts records at these seconds after the start."""

    def __init__(self, seconds):
        self.seconds = sorted(seconds)
        self.requests = 0

    def count(self, start, end):
        self.requests += 1
        return Counted(self.within(Interval(start, end)), 0, START)

    def counts_by_filter(self):
        return True

    def cut_by_interrupts(self):
        return nullcontext()

    def within(self, part):
        first, last = ((moment - START).total_seconds() for moment in (part.start, part.end))
        return bisect_left(self.seconds, last) - bisect_left(self.seconds, first)


def cut(listing, length):
    whole = Interval(START, START + timedelta(seconds=length))
    cutter = IntervalCutter(listing, Counts(listing, Warnings()), page_size=PAGE, lanes=LANES)
    return whole, cutter.cut(whole, listing.within(whole))


@settings(max_examples=60, deadline=None)
@given(clumps=st.lists(st.tuples(st.integers(0, 99_999), st.integers(1, 20_000), st.integers(0, 3000)), max_size=6))
def test_windows_cover_the_interval_once_and_none_is_far_too_large(clumps):
    seconds = [min(99_999, at + wide * number // many) for at, wide, many in clumps for number in range(many)]
    listing = Listing(seconds)
    whole, windows = cut(listing, 100_000)
    assert (windows[0][0].start, windows[-1][0].end) == (whole.start, whole.end)
    assert all(before.end == after.start for (before, _), (after, _) in pairwise(windows))
    assert sum(expected for _, expected in windows) == len(seconds)
    densest = max(Counter(seconds).values(), default=0)
    assert max(listing.within(part) for part, _ in windows) <= LIMIT + 2 * max(COARSE * LIMIT, densest)


@pytest.mark.parametrize("full", [101, 57, 12])
def test_pages_are_full(full):
    days = [0.1 if day % 7 > 4 else 1.0 for day in range(28)]
    seconds = [
        int(day * 86400 + 86400 * number / (share * 1000))
        for day, share in enumerate(days)
        for number in range(int(full * PAGE * share / sum(days)))
    ]
    listing = Listing([one for one in seconds if one < 28 * 86400])
    whole, windows = cut(listing, 28 * 86400)
    read = sum(max(1, -(-listing.within(part) // PAGE)) for part, _ in windows)
    needed = -(-listing.within(whole) // PAGE)
    assert read <= 1.1 * needed + 2
    assert listing.requests <= needed / 4
