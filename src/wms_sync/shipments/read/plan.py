"""Choose the intervals to read, from coverage, horizon, start and overlap, and name their windows.

A window is named after its time, so that folders sort and describe themselves.

The sync cursor is not stored. It is computed as the end of the gapless coverage from the start date, so it cannot
disagree with the data.

An unfinished backfill is remembered by its range until its last window has landed, so that the same command resumes it.
A backfill that has read everything is not resumed: the same command reads the days again.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from wms_sync import cron
from wms_sync.intervals import Interval, interval, subtract, union
from wms_sync.settings import Settings
from wms_sync.state.store import COVERING, Reason, StateStore, Window

MARGIN = timedelta(seconds=2)
"""The lag of the horizon behind the service's clock: ``Date`` has whole seconds, and other servers of the service may
be slightly behind the server that answered."""
RESUME_WITHIN = timedelta(hours=24)
"""An older read is started over instead of resumed: its first pages may be stale."""
_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"(\d{8}T\d{6}Z)-(\d{8}T\d{6}Z)-[0-9a-f]{6}")


def horizon(trusted: datetime) -> datetime:
    """Return the time up to which data is complete and can be read, in whole seconds."""
    return (trusted - MARGIN).replace(microsecond=0)


def sync_cursor(start: datetime, covered: Iterable[Interval]) -> datetime:
    """Return the time up to which coverage from ``start`` has no gap."""
    for part in union(covered):
        if part.start <= start < part.end:
            return part.end
    return start


def data_as_of(settings: Settings, store: StateStore) -> datetime | None:
    """Return the sync cursor of the tables; None if they cover no time."""
    covered = store.covered(("loaded",))
    return sync_cursor(settings.start, covered) if covered else None


def late_after(settings: Settings, now: datetime) -> timedelta:
    """Return the maximum age of a sync cursor that is not late; status, checks, alerts and the report all use it."""
    return cron.late_after(settings.schedule_cron, settings.schedule_timezone, now)


def find_gaps(start: datetime, end: datetime, covered: Iterable[Interval]) -> tuple[Interval, ...]:
    """Return the gaps of coverage in ``[start, end)``."""
    return subtract(interval(start, end), covered)


def gaps_so_far(start: datetime, covered: Sequence[Interval]) -> tuple[datetime, tuple[Interval, ...]]:
    """Return the end of coverage (``start`` if there is none), and the gaps before it."""
    newest = max((part.end for part in covered), default=start)
    return newest, find_gaps(start, newest, covered)


def sync_intervals(
    start: datetime, end: datetime, covered: Iterable[Interval], overlap: timedelta
) -> tuple[Interval, ...]:
    """Return the intervals that a sync reads: every gap, and again the ``overlap`` before each gap.

    The overlap catches records that were committed late, with an ``updated_at`` before the previous sync's horizon.
    """
    unread = find_gaps(start, end, covered)
    return union(
        (*unread, *(again for gap in unread for again in interval(max(start, gap.start - overlap), gap.start)))
    )


def omitting(windows: Iterable[Window], omitted: Collection[str]) -> tuple[Interval, ...]:
    """Return the intervals whose latest window omits data that is requested now (not in ``omitted``).

    Pass ``windows`` in the order in which they were begun.
    """
    found: tuple[Interval, ...] = ()
    for window in windows:
        if not window.covers_time or not (found or window.omitted):
            continue
        if window.omitted.keys() - omitted:
            found = union((*found, window.interval))
        else:
            found = subtract(found, (window.interval,))
    return found


class UnfinishedBackfill(Struct, frozen=True):
    """A backfill of ``[start, until)`` that did not finish; its windows were started at ``began_at`` or later."""

    start: datetime
    until: datetime
    began_at: datetime


def unfinished_backfill(store: StateStore, asked: Interval) -> UnfinishedBackfill | None:
    """Return the unfinished backfill of the same range, unless it was started more than ``RESUME_WITHIN`` ago."""
    seen = store.observation(backfill_name(asked))
    if seen is None:
        return None
    began_at = datetime.fromisoformat(seen.about)
    if datetime.now(UTC) - began_at > RESUME_WITHIN:
        return None
    return UnfinishedBackfill(asked.start, datetime.fromtimestamp(seen.value, UTC), began_at)


def remember_backfill(store: StateStore, asked: Interval, until: datetime, began_at: datetime) -> None:
    """Remember a backfill before its first window is started."""
    store.observe(backfill_name(asked), int(until.timestamp()), began_at.isoformat())


def backfill_name(asked: Interval) -> str:
    """Return the name of the observation that remembers a backfill of this range."""
    return f"backfill {asked.start:%Y-%m-%dT%H:%M:%SZ} {asked.end:%Y-%m-%dT%H:%M:%SZ}"


def new_name(reason: Reason, part: Interval) -> str:
    """Return a unique name for a window: after its time, or after its reason and end if it covers no time."""
    since = f"{part.start:{_STAMP}}" if reason in COVERING else reason
    return f"{since}-{part.end:{_STAMP}}-{secrets.token_hex(3)}"


def time_named(window_id: str) -> Interval | None:
    """Return the time that a window of this name covers; None if it covers none, or if this is not a window's name."""
    match = _NAME.fullmatch(window_id)
    if match is None:
        return None
    try:
        start, end = (datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC) for stamp in match.groups())
    except ValueError:
        return None
    return Interval(start, end) if start < end else None
