"""A night: a scheduled sync with its attempts. One that failed since something did not answer is tried again for hours.

That is the service, PostgreSQL, object storage, or the network to one of them.

The attempts are runs of their own: in the pauses between them neither the writer's lock nor a slot is held, and each
goes on where the one before stopped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import takewhile

from wms_sync.service.errors import Busy, NotSent, ServiceFailed, Unreachable
from wms_sync.state.errors import SessionLost, StateSilent
from wms_sync.state.runs import SYNC, RunRecord
from wms_sync.storage.errors import FilesUnavailable

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (2, 5, 10, 20, 30))
"""From the end of an attempt to the next one; the last pause repeats."""
PASSING = frozenset(
    kind.__name__ for kind in (Unreachable, NotSent, Busy, ServiceFailed, FilesUnavailable, SessionLost, StateSilent)
)


def mends_by_waiting(error_kind: str | None) -> bool:
    """Return whether an error of this kind may pass by itself; a token, a setting or a full disk does not."""
    return error_kind in PASSING


def next_attempt(
    tick: datetime, ended_at: datetime, attempt: int, hours: float, pauses: Sequence[timedelta] = PAUSES
) -> datetime | None:
    """Return when to try again after attempt number ``attempt`` (from 1); None if that is too late for this night."""
    due = ended_at + pauses[min(attempt, len(pauses)) - 1]
    return due if due <= tick + timedelta(hours=hours) else None


def is_being_retried(records: Iterable[RunRecord], now: datetime, hours: float) -> bool:
    """Return whether the newest sync failed and may still succeed by itself; ``records`` are the newest first.

    The time counts from the first failure since the last success, so that a schedule that ticks more often than that
    does not put the alert off for ever. An attempt that goes on may take longer.
    """
    syncs = [one for one in records if one.group == SYNC]
    failures = list(takewhile(_is_passing_failure, (one for one in syncs if one.outcome != "running")))
    if not failures:
        return False
    return syncs[0].outcome == "running" or now < min(one.started_at for one in failures) + timedelta(hours=hours)


def _is_passing_failure(record: RunRecord) -> bool:
    return record.outcome == "failed" and record.source == "schedule" and mends_by_waiting(record.error_kind)
