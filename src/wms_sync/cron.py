"""A cron schedule as Dagster reads it: five fields, not a day that February lacks; its ticks in a time zone.

Dagster's own check is not used, because the library does not import Dagster and a wrong setting must be reported
before Dagster is loaded. A test compares the two.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

FIELDS = "minute, hour, day of the month, month, day of the week (0 2 * * *)"


def checked_cron(text: str) -> str:
    """Return the schedule. Raises ``ValueError`` with what is wrong."""
    from croniter import CroniterError, croniter  # only needed where a schedule is set, and slow to import

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
    """Return the longer of the pauses before and after the last tick: a day, or three over a weekend of weekdays."""
    last = _tick(cron, zone, now, -1)
    return max(last - _tick(cron, zone, last, -1), next_tick(cron, zone, last) - last)


def _tick(cron: str, zone: str, start: datetime, direction: int) -> datetime:
    from croniter import croniter  # slow to import

    ticks = croniter(cron, start.astimezone(ZoneInfo(zone)))
    found: datetime = ticks.get_next(datetime) if direction > 0 else ticks.get_prev(datetime)
    return found.astimezone(UTC)
