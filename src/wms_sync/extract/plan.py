"""Which intervals to read: pure functions of coverage, horizon, start and overlap.

The sync cursor is not stored. It is the end of the coverage that begins at the start date without a gap, so it can not
disagree with what is there.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from wms_sync.api.selection import expanded
from wms_sync.intervals import Interval, interval, subtract, union
from wms_sync.state.store import Window

MARGIN = timedelta(seconds=2)
"""How far the horizon stays behind the service's clock: its ``Date`` has whole seconds, and other servers of the
service may be a little behind the one that answered."""


NO_TIME = timedelta(0)


def horizon(trusted: datetime) -> datetime:
    """The end of what can be read as settled, by the lowest clock, in whole seconds."""
    return (trusted - MARGIN).replace(microsecond=0)


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
    start: datetime, end: datetime, covered: Iterable[Interval], overlap: timedelta, back: timedelta = NO_TIME
) -> tuple[Interval, ...]:
    """What a sync reads: every gap, and the last ``overlap`` below the newest coverage again.

    Records committed late, with an ``updated_at`` behind the horizon of the sync before, are caught by the overlap.
    Where the service's clock has gone ``back``, what changed since may bear times so much further below: the overlap
    grows by it, and is read also where there is no gap.
    """
    known = union(covered)
    gaps = missing(start, end, known)
    if not known:
        return gaps
    below = [again for gap in gaps for again in _before(gap, start, overlap)]
    if back:
        newest = min(end, known[-1].end)
        below += interval(max(start, newest - overlap - back), newest)
    return union((*gaps, *below))


def narrower(windows: Iterable[Window], lost: Iterable[str]) -> tuple[Interval, ...]:
    """What the last window that read it was not asked for something that is not ``lost`` now, so asked for.

    ``windows`` in the order in which they were begun.
    """
    lost_now = expanded(lost)
    found: tuple[Interval, ...] = ()
    for window in windows:
        if window.reason == "audit" or not (found or window.lost):
            continue
        if expanded(window.lost) - lost_now:
            found = union((*found, window.interval))
        else:
            found = subtract(found, (window.interval,))
    return found


def _before(gap: Interval, start: datetime, overlap: timedelta) -> tuple[Interval, ...]:
    return interval(max(start, gap.start - overlap), gap.start)
