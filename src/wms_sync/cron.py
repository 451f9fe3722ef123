"""Check a cron schedule as Dagster does, and compute its ticks in a time zone.

A schedule must have five fields and must not name 30 or 31 February. The library does not import Dagster, and a wrong
setting must be reported before Dagster is loaded. So this module has its own check; a test compares it with Dagster's.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

LEAST_RUN, MOST_RUN = timedelta(minutes=10), timedelta(hours=2)
SOME_MOMENT, PATTERN = datetime(2026, 1, 1, tzinfo=UTC), 14
"""The moment after which ticks are examined for the longest pause, and their number. 14 ticks are two weeks of a
nightly schedule, and more than a year of a monthly one."""
FIELDS = "minute, hour, day of the month, month, day of the week (0 2 * * *)"


def checked_cron(text: str) -> str:
    """Return the schedule unchanged. Raise ``ValueError``, which names the mistake, if it is not valid."""
    from croniter import CroniterError, croniter  # slow to import

    try:
        fields, _ = croniter.expand(text)
    except CroniterError as error:
        raise ValueError(f"must have five fields: {FIELDS}. {error}") from None
    if len(fields) != len(FIELDS.split(",")):
        raise ValueError(f"must have five fields: {FIELDS}")
    if fields[3] == [2] and fields[2] in ([30], [31]):
        raise ValueError("names a day that February does not have")
    return text


def next_tick(cron: str, zone: str, after: datetime) -> datetime:
    """Return the first tick after a moment."""
    return _tick(cron, zone, after, 1)


def longest_pause(cron: str, zone: str, now: datetime) -> timedelta:
    """Return the longer of the pauses before and after the last tick.

    A nightly schedule gives one day; a nightly schedule on weekdays gives three days over a weekend.
    """
    last = _tick(cron, zone, now, -1)
    return max(last - _tick(cron, zone, last, -1), next_tick(cron, zone, last) - last)


def late_after(cron: str, zone: str, now: datetime) -> timedelta:
    """Return the age at which data counts as late: the pause of the schedule around ``now``, plus the time for a run.

    The time for a run is half a pause, but at least ten minutes and at most two hours. A nightly schedule gives 26
    hours.
    """
    return _with_run(longest_pause(cron, zone, now))


def late_after_at_most(cron: str, zone: str) -> timedelta:
    """Return the maximum of ``late_after`` over all moments: 74 hours for a nightly schedule on weekdays."""
    return _with_run(max(longest_pause(cron, zone, tick) for tick in _ticks(cron, zone)))


def _with_run(pause: timedelta) -> timedelta:
    return pause + max(LEAST_RUN, min(MOST_RUN, pause / 2))


def _ticks(cron: str, zone: str) -> list[datetime]:
    ticks = [SOME_MOMENT]
    for _ in range(PATTERN):
        ticks.append(next_tick(cron, zone, ticks[-1]))
    return ticks[1:]


def _tick(cron: str, zone: str, start: datetime, direction: int) -> datetime:
    from croniter import croniter  # slow to import

    ticks = croniter(cron, start.astimezone(ZoneInfo(zone)))
    tick: datetime = ticks.get_next(datetime) if direction > 0 else ticks.get_prev(datetime)
    return tick.astimezone(UTC)
