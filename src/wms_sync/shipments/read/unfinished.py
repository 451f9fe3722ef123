"""Remember unfinished backfills, so that the same command resumes one while part of it is still unread.

A backfill is remembered by its range, from its start until its last window has landed. A backfill that has read
everything is never resumed: asking for the same days again reads them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

from wms_sync.intervals import Interval, interval, subtract
from wms_sync.state.store import StateStore, Window

RESUME_WITHIN = timedelta(hours=24)
"""A read started longer ago is not resumed but started over: its first pages may be stale."""


class UnfinishedBackfill(Struct, frozen=True):
    """A backfill of ``[start, until)`` that did not finish; its windows were started at ``began_at`` or later."""

    start: datetime
    until: datetime
    began_at: datetime

    def has_all_landed(self, windows: Sequence[Window]) -> bool:
        """Return whether these windows cover its whole range."""
        return not subtract(interval(self.start, self.until), (window.interval for window in windows))


def unfinished(store: StateStore, asked: Interval) -> UnfinishedBackfill | None:
    """Return the unfinished backfill of the same range, unless it was started more than ``RESUME_WITHIN`` ago."""
    seen = store.observation(_name(asked))
    if seen is None:
        return None
    began_at = datetime.fromisoformat(seen.about)
    if datetime.now(UTC) - began_at > RESUME_WITHIN:
        return None
    return UnfinishedBackfill(asked.start, datetime.fromtimestamp(seen.value, UTC), began_at)


def begin(store: StateStore, asked: Interval, until: datetime, began_at: datetime) -> None:
    """Remember a backfill before its first window is started."""
    store.observe(_name(asked), int(until.timestamp()), began_at.isoformat())


def end(store: StateStore, asked: Interval) -> None:
    """Forget a backfill after its last window has landed."""
    store.delete_observation(_name(asked))


def _name(asked: Interval) -> str:
    return f"backfill {asked.start:%Y-%m-%dT%H:%M:%SZ} {asked.end:%Y-%m-%dT%H:%M:%SZ}"
