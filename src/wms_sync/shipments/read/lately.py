"""Whether something was done lately, by this machine's clock, which may have been wrong when it was noted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def was_within(span: timedelta, moment: datetime, now: datetime | None = None) -> bool:
    """Return whether ``moment`` is less than ``span`` ago.

    A moment that is still to come is not: the clock was ahead when it was noted, and what waits for it to be over would
    wait as long as the clock was ahead.
    """
    return timedelta(0) <= (now or datetime.now(UTC)) - moment < span
