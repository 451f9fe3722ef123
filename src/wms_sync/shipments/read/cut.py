"""Choose where to cut an interval into windows, by pure functions of counts.

A window that ends just after a page is full costs a request for a page that is nearly empty, and a window that is read
last while no other is left leaves lanes idle. So windows hold full pages, nearly, and the last of them are smaller: one
or more for each lane.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import timedelta
from itertools import accumulate, pairwise

from wms_sync.intervals import Interval

Slice = tuple[Interval, int]
"""An interval and the number of records in it."""
SLACK = 0.15
"""The share of a page that stays free in each window, since what lies between two counts is estimated."""


def even_windows(
    counted: Sequence[Slice], *, page_size: int, pages: int, lanes: int, shortest: timedelta = timedelta(0)
) -> list[Slice]:
    """Return windows of about ``pages`` full pages, in order of time, with the number of records expected in each.

    ``counted`` are adjacent slices; inside a slice its records are taken to be spread evenly. The smaller windows have
    the newest records, which are the most likely to change while they are read. None but the last is shorter than
    ``shortest``: each is read wider by about as much.
    """
    total = sum(count for _, count in counted)
    if total <= pages * page_size:
        return [(Interval(counted[0][0].start, counted[-1][0].end), total)]
    reached = [0, *accumulate(count for _, count in counted)]
    cuts = {counted[0][0].start: 0}
    for end in accumulate(_sizes(total, page_size, pages, lanes)):
        part, count = counted[at := bisect_left(reached, end) - 1]
        seconds = int(part.length.total_seconds() * (end - reached[at]) / count)
        moment = part.start + timedelta(seconds=seconds)
        if moment - next(reversed(cuts)) >= shortest:
            cuts.setdefault(moment, end)
    bounds = [*cuts.items(), (counted[-1][0].end, total)]
    return [(Interval(start, end), after - before) for (start, before), (end, after) in pairwise(bounds)]


def _sizes(total: int, page_size: int, pages: int, lanes: int) -> list[int]:
    """Return how many records each window shall hold, large ones before smaller ones; the last takes what is left."""
    slack = int(SLACK * page_size)
    large = max(1, pages * page_size - slack)
    rounds = _up(total, large * lanes) - 1
    rest = total - rounds * lanes * large
    small = max(1, _up(_up(rest, lanes) + slack, page_size) * page_size - slack)
    return [large] * (rounds * lanes) + [small] * (_up(rest - slack, small) - 1)


def _up(number: int, by: int) -> int:
    """Divide and round up."""
    return -(-number // by)
