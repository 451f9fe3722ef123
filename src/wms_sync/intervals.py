"""Half-open time intervals in UTC, and the set operations that coverage needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta

from msgspec import Struct


class Interval(Struct, frozen=True, order=True):
    """The interval ``[start, end)``. Raises ``ValueError`` if it would be empty."""

    start: datetime
    end: datetime

    def __post_init__(self) -> None:
        if self.end <= self.start:
            raise ValueError(f"an interval must end after it starts: {self.start} to {self.end}")

    @property
    def length(self) -> timedelta:
        """Return ``end`` minus ``start``."""
        return self.end - self.start


def midnight(day: date) -> datetime:
    """Return the first moment of a day in UTC."""
    return datetime.combine(day, time(), UTC)


def interval(start: datetime, end: datetime) -> tuple[Interval, ...]:
    """Return ``[start, end)`` as one interval, or none if it is empty."""
    return (Interval(start, end),) if start < end else ()


def union(intervals: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the union as disjoint, sorted intervals. Merge adjacent intervals."""
    merged: list[Interval] = []
    for part in sorted(intervals):
        if merged and part.start <= merged[-1].end:
            merged[-1] = Interval(merged[-1].start, max(merged[-1].end, part.end))
        else:
            merged.append(part)
    return tuple(merged)


def subtract(wanted: Iterable[Interval], taken: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the parts of ``wanted`` that are not in ``taken``, as disjoint, sorted intervals."""
    rest: list[Interval] = []
    holes = union(taken)
    for part in union(wanted):
        start = part.start
        for hole in holes:
            if hole.end <= start or hole.start >= part.end:
                continue
            rest += interval(start, hole.start)
            start = max(start, hole.end)
        rest += interval(start, part.end)
    return tuple(rest)


def intersect(left: Iterable[Interval], right: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the parts that are in both, as disjoint, sorted intervals."""
    others = union(right)
    return tuple(
        shared
        for part in union(left)
        for other in others
        for shared in interval(max(part.start, other.start), min(part.end, other.end))
    )


def slices(whole: Interval, parts: int) -> tuple[Interval, ...]:
    """Cut an interval at whole seconds into at most ``parts`` slices of similar length; less than 2 s is not cut."""
    seconds = int(whole.length.total_seconds())
    parts = max(1, min(parts, seconds))
    cuts: Sequence[datetime] = [whole.start + timedelta(seconds=seconds * number // parts) for number in range(parts)]
    return tuple(Interval(start, end) for start, end in zip(cuts, [*cuts[1:], whole.end], strict=True))
