"""Check a cron schedule as Dagster reads it: five fields, and not a day that February lacks.

Dagster's own check is not used, because the library does not import Dagster and a wrong setting must be reported
before Dagster is loaded. A test compares the two.
"""

from __future__ import annotations

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
