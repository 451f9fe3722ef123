"""Locks between processes: one at a time, first come, first served, and each is told whom it waits for.

Where the state is in SQLite, all processes are on one machine, and a lock is a file (``queue``). Where it is in
PostgreSQL they may be anywhere, and a lock is PostgreSQL's (``advisory``). Either is free at once when its process
ends. A lock makes processes wait for each other; what a late one writes is refused by its epoch (``epochs``).
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from wms_sync.layout import Layout
from wms_sync.state.engine import usable_url
from wms_sync.state.holders import WRITER, Held, Holder


class Lock(Protocol):
    """The locks of one installation, by name, and the marks of runs whose process is alive."""

    def hold(self, purpose: str, *, what: str = WRITER) -> AbstractContextManager[Held]:
        """Hold the lock on ``what`` inside the block. While another process is ahead, log who it is."""

    def holder(self, *, what: str = WRITER) -> Holder | None:
        """Return who holds the lock on ``what``, None if nobody does. It never waits."""

    def mark_running(self, run_id: str) -> AbstractContextManager[None]:
        """Mark this run as alive for the length of the block, whoever started it; ``is_running`` looks at the mark."""

    def is_running(self, run_id: str) -> bool:
        """Return whether the process of this run is alive."""

    def clear(self, run_id: str) -> None:
        """Delete what is left of the mark of a run that is not alive."""


def lock_of(url: str, layout: Layout) -> Lock:
    """Return the locks of the installation with this state store and data folder."""
    if url.startswith("postgresql"):
        with usable_url():
            from wms_sync.state.advisory import PostgresLock  # which needs the driver
        return PostgresLock(url)
    from wms_sync.state.queue import FileLock

    return FileLock(layout)
