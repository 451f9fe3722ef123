"""Half-open intervals of time, UTC, and the little algebra that coverage needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, order=True)
class Interval:
    """``[start, end)``; never empty."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.end <= self.start:
            raise ValueError(f"an interval must end after it starts: {self.start} to {self.end}")

    @property
    def length(self) -> timedelta:
        """How long it is."""
        return self.end - self.start


def interval(start: datetime, end: datetime) -> tuple[Interval, ...]:
    """``[start, end)`` as zero or one interval."""
    return (Interval(start, end),) if start < end else ()


def union(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """The same moments as disjoint, sorted intervals; those that touch become one."""
    merged: list[Interval] = []
    for one in sorted(intervals):
        if merged and one.start <= merged[-1].end:
            merged[-1] = Interval(merged[-1].start, max(merged[-1].end, one.end))
        else:
            merged.append(one)
    return tuple(merged)


def subtract(wanted: Iterable[Interval], taken: Iterable[Interval]) -> tuple[Interval, ...]:
    """The moments of ``wanted`` that are not in ``taken``."""
    rest: list[Interval] = []
    holes = union(taken)
    for one in union(wanted):
        start = one.start
        for hole in holes:
            if hole.end <= start or hole.start >= one.end:
                continue
            rest += interval(start, hole.start)
            start = max(start, hole.end)
        rest += interval(start, one.end)
    return tuple(rest)


def intersect(left: Iterable[Interval], right: Iterable[Interval]) -> tuple[Interval, ...]:
    """The moments in both."""
    others = union(right)
    return tuple(
        part
        for one in union(left)
        for other in others
        for part in interval(max(one.start, other.start), min(one.end, other.end))
    )


def slices(whole: Interval, parts: int) -> tuple[Interval, ...]:
    """Up to ``parts`` slices of about equal length, cut at whole seconds; one slice where it is too short to cut."""
    seconds = int(whole.length.total_seconds())
    parts = max(1, min(parts, seconds))
    cuts: Sequence[datetime] = [whole.start + timedelta(seconds=seconds * number // parts) for number in range(parts)]
    return tuple(Interval(start, end) for start, end in zip(cuts, [*cuts[1:], whole.end], strict=True))
