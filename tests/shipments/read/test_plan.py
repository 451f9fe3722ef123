"""Which intervals are read: property tests over coverage, horizon and overlap."""

from datetime import timedelta

from hypothesis import given, strategies as st

from tests.test_intervals import EPOCH, many, minutes
from wms_sync.intervals import union
from wms_sync.shipments.read.plan import find_gaps, horizon, sync_cursor, sync_intervals

MINUTE = timedelta(minutes=1)
moments = st.integers(0, 90).map(lambda minute: EPOCH + timedelta(minutes=minute))
overlaps = st.integers(0, 30).map(lambda minute: timedelta(minutes=minute))


@given(many, moments, overlaps)
def test_a_sync_reads_the_gaps_and_the_overlap_below_them_and_no_more(covered, end, overlap):
    read = sync_intervals(EPOCH, end, covered, overlap)
    assert find_gaps(EPOCH, end, (*covered, *read)) == (), "nothing up to the horizon is missing"
    gaps = find_gaps(EPOCH, end, covered)
    below = {
        minute
        for gap in gaps
        for minute in range((gap.start - overlap - EPOCH) // MINUTE, (gap.start - EPOCH) // MINUTE)
    }
    assert minutes(read) <= minutes(gaps) | below
    newest = max((one.end for one in covered), default=EPOCH)
    if EPOCH < newest < end:
        assert any(one.start <= max(newest - overlap, EPOCH) and one.end == end for one in read)


@given(many)
def test_the_sync_cursor_is_the_end_of_gapless_coverage(covered):
    cursor = sync_cursor(EPOCH, covered)
    assert find_gaps(EPOCH, cursor, covered) == ()
    assert not any(one.start <= cursor < one.end for one in union(covered))


def test_the_horizon_stays_behind_the_clock_in_whole_seconds():
    assert horizon(EPOCH + timedelta(seconds=30, milliseconds=700)) == EPOCH + timedelta(seconds=28)
