"""Backfills that were interrupted: the same command goes on with one while something of it is left to be read.

From its beginning until its last window has landed a backfill is remembered by the range that it was asked for. One
that has read everything is never gone on with: to ask for days again means to read them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from wms_sync.intervals import Interval, interval, subtract
from wms_sync.state.store import StateStore, Window

RESUME_WITHIN = timedelta(hours=24)
"""What was begun longer ago is asked for anew: its first pages may be stale."""


@dataclass(frozen=True)
class Interrupted:
    """A backfill of ``[start, until)`` that did not come to its end; its windows were begun from ``began_at`` on."""

    start: datetime
    until: datetime
    began_at: datetime

    def has_all_landed(self, windows: Sequence[Window]) -> bool:
        """Whether these windows are all that it was to read."""
        return not subtract(interval(self.start, self.until), (window.interval for window in windows))


def interrupted(store: StateStore, asked: Interval) -> Interrupted | None:
    """The backfill of the same range that is remembered."""
    seen = store.observation(_name(asked))
    if seen is None:
        return None
    began_at = datetime.fromisoformat(seen.about)
    if datetime.now(UTC) - began_at > RESUME_WITHIN:
        return None
    return Interrupted(asked.start, datetime.fromtimestamp(seen.value, UTC), began_at)


def begin(store: StateStore, asked: Interval, until: datetime, began_at: datetime) -> None:
    """Remember a backfill before the first of its windows is begun."""
    store.observe(_name(asked), int(until.timestamp()), began_at.isoformat())


def end(store: StateStore, asked: Interval) -> None:
    """Everything of it has landed."""
    store.delete_observation(_name(asked))


def _name(asked: Interval) -> str:
    return f"backfill {asked.start:%Y-%m-%dT%H:%M:%SZ} {asked.end:%Y-%m-%dT%H:%M:%SZ}"
