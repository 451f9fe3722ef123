"""Check a cron schedule as Dagster does, and compute its ticks in a time zone.

A schedule must have five fields and at least one tick: 30 February has none. The library does not import Dagster, and a
wrong setting must be reported before Dagster is loaded. So this module has its own check; a test compares it with
Dagster's.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

CLOCK_CHANGE = timedelta(hours=3)
"""More than the longest time that a clock change repeats."""
LEAST_RUN, MOST_RUN = timedelta(minutes=10), timedelta(hours=2)
SOME_MOMENT, SPAN, PATTERN = datetime(2026, 1, 1, tzinfo=UTC), timedelta(days=35), 14
"""The moment after which ticks are examined for the longest pause, and for how long: more than a month, and 14 ticks,
which take more than a year with a monthly schedule."""
FIELDS = "minute, hour, day of the month, month, day of the week (0 2 * * *)"


def checked_cron(text: str) -> str:
    """Return the schedule unchanged. Raise ``ValueError``, which names the mistake, if it is not valid."""
    from croniter import CroniterBadDateError, CroniterError, croniter  # slow to import

    try:
        fields, _ = croniter.expand(text)
    except CroniterError as error:
        raise ValueError(f"must have five fields, each valid: {FIELDS}. {error}") from None
    days = text.lower().split()[2:3]  # none in @daily
    if len(fields) != len(FIELDS.split(",")) or any("w" in day for day in days):  # Dagster refuses 15W
        raise ValueError(f"must have five fields, and no W in the day of the month: {FIELDS}")
    try:
        croniter(text, SOME_MOMENT).get_next()
    except CroniterBadDateError:
        raise ValueError("names only days that do not exist, such as 30 February") from None
    return text


def next_tick(cron: str, zone: str, after: datetime) -> datetime:
    """Return the first tick after a moment.

    A time that a clock change repeats counts at its second occurrence, as in Dagster, unless every hour has ticks.
    """
    from croniter import croniter  # slow to import

    is_hourly = croniter.expand(cron)[0][1] == ["*"]
    ticks = croniter(cron, (after - CLOCK_CHANGE).astimezone(ZoneInfo(zone)))
    while True:
        tick: datetime = ticks.get_next(datetime)
        if (found := tick.replace(fold=tick.fold if is_hourly else 1).astimezone(UTC)) > after:
            return found


def longest_pause(cron: str, zone: str, now: datetime) -> timedelta:
    """Return the longer of the pauses before and after the last tick.

    A nightly schedule gives one day; a nightly schedule on weekdays gives three days over a weekend.
    """
    last = _last_tick(cron, zone, now)
    return max(last - _last_tick(cron, zone, last), next_tick(cron, zone, last) - last)


def late_after(cron: str, zone: str, now: datetime) -> timedelta:
    """Return the age at which data counts as late: the pause of the schedule around ``now``, plus the time for a run.

    The time for a run is half a pause, but at least ten minutes and at most two hours. A nightly schedule gives 26
    hours.
    """
    return _with_run(longest_pause(cron, zone, now))


def late_after_at_most(cron: str, zone: str) -> timedelta:
    """Return the maximum of ``late_after`` over at least ``SPAN``: 74 hours for a nightly schedule on weekdays."""
    return _with_run(max(later - earlier for earlier, later in pairwise(_ticks(cron, zone))))


def _with_run(pause: timedelta) -> timedelta:
    return pause + max(LEAST_RUN, min(MOST_RUN, pause / 2))


def _ticks(cron: str, zone: str) -> list[datetime]:
    from croniter import croniter  # slow to import

    coming = croniter(cron, SOME_MOMENT.astimezone(ZoneInfo(zone)))
    ticks = [coming.get_next(datetime).astimezone(UTC)]
    while len(ticks) < PATTERN or ticks[-1] - ticks[0] < SPAN:
        ticks.append(coming.get_next(datetime).astimezone(UTC))
    return ticks


def _last_tick(cron: str, zone: str, before: datetime) -> datetime:
    from croniter import croniter  # slow to import

    tick: datetime = croniter(cron, before.astimezone(ZoneInfo(zone))).get_prev(datetime)
    return tick.astimezone(UTC)
