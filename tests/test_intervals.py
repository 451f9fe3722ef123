"""The algebra of intervals against sets of minutes."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from wms_sync.intervals import Interval, intersect, interval, slices, subtract, union

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def span(start: int, end: int) -> Interval:
    return Interval(EPOCH + timedelta(minutes=start), EPOCH + timedelta(minutes=end))


spans = st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda pair: span(pair[0], pair[0] + pair[1]))
many = st.lists(spans, max_size=8)


def minutes(intervals) -> set[int]:
    return {
        minute
        for one in intervals
        for minute in range(int((one.start - EPOCH).seconds / 60), int((one.end - EPOCH).total_seconds() / 60))
    }


@given(many)
def test_union_keeps_every_moment_and_joins_neighbours(intervals):
    merged = union(intervals)
    assert minutes(merged) == minutes(intervals)
    assert all(left.end < right.start for left, right in pairwise(merged))


@given(many, many)
def test_subtract_and_intersect_are_those_of_sets(left, right):
    assert minutes(subtract(left, right)) == minutes(left) - minutes(right)
    assert minutes(intersect(left, right)) == minutes(left) & minutes(right)


@given(spans, st.integers(1, 100))
def test_slices_cover_the_whole_without_overlap(whole, parts):
    cut = slices(whole, parts)
    assert (cut[0].start, cut[-1].end) == (whole.start, whole.end)
    assert all(left.end == right.start for left, right in pairwise(cut))
    assert len(cut) <= parts


def test_an_interval_without_length_is_refused():
    with pytest.raises(ValueError, match="end after"):
        span(5, 5)
    assert interval(EPOCH, EPOCH) == ()
