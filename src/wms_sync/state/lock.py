"""The lock on work that only one process may do at a time: writing the tables (``writer``), pushing a kind of data.

If the state store is in SQLite, all processes are on one machine, and a lock is the kernel's, on the file
``work/<what>.lock``. If it is in PostgreSQL, they may be on any machine, and a lock is PostgreSQL's (``advisory``).
Either lock is released as soon as its process ends, so a kill leaves nothing to clean up. A waiting process repeats its
attempt and logs the holder; the order of waiting processes is not guaranteed.

A lock makes processes wait for each other. It does not stop a process that was suspended while its lock was deleted or
lost: the epoch (``leases``) refuses late writes of such a process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Protocol

from wms_sync.layout import Layout
from wms_sync.state.engine import usable_url
from wms_sync.state.holder import WRITER, Held, Holder, repeated, signed_by
from wms_sync.storage.durable import PRIVATE_FILE, accessing, make_private


class Lock(Protocol):
    """The locks of one installation, by name."""

    def hold(self, purpose: str, *, what: str = WRITER, run_id: str | None = None) -> AbstractContextManager[Held]:
        """Hold the lock on ``what`` inside the block. While another process holds it, log that holder."""

    def holder(self, *, what: str = WRITER) -> Holder | None:
        """Return the holder of the lock on ``what``, None if it is free. Never waits."""


class FileLock:
    """The locks of the data folder that ``layout`` describes."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    @contextmanager
    def hold(self, purpose: str, *, what: str = WRITER, run_id: str | None = None) -> Iterator[Held]:
        """Hold the lock on ``what`` inside the block. While another process holds it, log that holder."""
        path = self._layout.lock(what)
        make_private(path.parent)
        with repeated(lambda: _taken(path), lambda: self.holder(what=what)) as file:
            me = Holder.now(purpose, run_id)
            with accessing(path):
                file.truncate()
                file.write(me.signature)
            yield Held(what, me)

    def holder(self, *, what: str = WRITER) -> Holder | None:
        """Return the holder of the lock on ``what``, None if it is free. Never waits."""
        path = self._layout.lock(what)
        try:
            with accessing(path), path.open("rb") as file:
                return None if _try_lock(file, fcntl.LOCK_SH) else signed_by(file.read())
        except FileNotFoundError:
            return None


def lock_of(url: str, layout: Layout) -> Lock:
    """Return the locks of the installation with this state store and data folder."""
    if not url.startswith("postgresql"):
        return FileLock(layout)
    with usable_url():
        from wms_sync.state.advisory import PostgresLock  # needs the driver
    return PostgresLock(url)


def _taken(path: Path) -> IO[bytes] | None:
    """Return the locked file; None if another process has locked it.

    The file is unbuffered, so a full disk causes only one error. Each attempt opens it again, because someone who
    believes that a run is dead may have deleted it.
    """
    with accessing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        file = open(descriptor, "r+b", buffering=0)  # noqa: PTH123, SIM115 - for the mode; closed by the caller
        if _try_lock(file, fcntl.LOCK_EX):
            return file
    file.close()
    return None


def _try_lock(file: IO[bytes], how: int) -> bool:
    """Lock a file without waiting; return whether that was possible. Raise ``OSError`` where files have no locks."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
