"""Which intervals are read: property tests over coverage, horizon and overlap."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from tests.test_intervals import EPOCH, many, minutes, span
from wms_sync.intervals import union
from wms_sync.shipments.read.plan import find_gaps, horizon, sync_cursor, sync_intervals

moments = st.integers(0, 90).map(lambda minute: EPOCH + timedelta(minutes=minute))
overlaps = st.integers(0, 30).map(lambda minute: timedelta(minutes=minute))


@given(many, moments, overlaps)
def test_after_a_sync_nothing_up_to_the_horizon_is_missing(covered, end, overlap):
    read = sync_intervals(EPOCH, end, covered, overlap)
    assert find_gaps(EPOCH, end, (*covered, *read)) == ()


@given(many, moments, overlaps)
def test_a_sync_reads_only_gaps_and_the_overlap_before_them(covered, end, overlap):
    read = minutes(sync_intervals(EPOCH, end, covered, overlap))
    gaps = find_gaps(EPOCH, end, covered)
    allowed = minutes(gaps) | {
        minute
        for gap in gaps
        for minute in minutes(gaps[:0] + ((span(0, 1),) if gap.start == EPOCH else ()))
        | set(range(int((gap.start - overlap - EPOCH).total_seconds() // 60), int((gap.start - EPOCH).seconds // 60)))
    }
    assert read <= allowed


@given(many, moments, overlaps)
def test_the_overlap_below_the_newest_coverage_is_read_again(covered, end, overlap):
    known = union(covered)
    if not known or known[-1].end >= end or known[-1].end <= EPOCH:
        return
    again = known[-1].end - overlap
    read = sync_intervals(EPOCH, end, covered, overlap)
    assert any(one.start <= max(again, EPOCH) and one.end == end for one in read)


@given(many)
def test_the_sync_cursor_is_the_end_of_gapless_coverage(covered):
    cursor = sync_cursor(EPOCH, covered)
    assert find_gaps(EPOCH, cursor, covered) == ()
    assert not any(one.start <= cursor < one.end for one in union(covered))


def test_the_horizon_stays_behind_the_clock_in_whole_seconds():
    served = EPOCH + timedelta(seconds=30, milliseconds=700)
    assert horizon(served) == EPOCH + timedelta(seconds=28)
