"""Which intervals to read: pure functions of coverage, horizon, start and overlap.

The sync cursor is not stored. It is the end of the coverage that begins at the start date without a gap, so it can not
disagree with what is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from wms_sync.intervals import Interval, interval, subtract, union

MARGIN = timedelta(seconds=2)
"""How far the horizon stays behind the service's clock: its ``Date`` has whole seconds, and other servers of the
service may be a little behind the one that answered."""


def horizon(served_at: datetime) -> datetime:
    """The end of what can be read as settled, by the service's clock, in whole seconds."""
    return (served_at - MARGIN).replace(microsecond=0)


def sync_cursor(start: datetime, covered: Iterable[Interval]) -> datetime:
    """How far the service's time is covered without a gap from ``start``."""
    for one in union(covered):
        if one.start <= start < one.end:
            return one.end
    return start


def missing(start: datetime, end: datetime, covered: Iterable[Interval]) -> tuple[Interval, ...]:
    """The gaps in ``[start, end)``."""
    return subtract(interval(start, end), covered)


def sync_intervals(
    start: datetime, end: datetime, covered: Iterable[Interval], overlap: timedelta
) -> tuple[Interval, ...]:
    """What a sync reads: every gap, and the last ``overlap`` below the newest coverage again.

    Records committed late, with an ``updated_at`` behind the horizon of the sync before, are caught by the overlap.
    """
    known = union(covered)
    gaps = missing(start, end, known)
    if not gaps or not known:
        return gaps
    return union((*gaps, *(again for gap in gaps for again in _before(gap, start, overlap))))


def _before(gap: Interval, start: datetime, overlap: timedelta) -> tuple[Interval, ...]:
    return interval(max(start, gap.start - overlap), gap.start)
