"""Locks between the processes of one machine: first come, first served, and each process reports whom it waits for.

``work/<what>.lock`` is the lock on something that only one process at a time may do: write the tables (``writer``), or
push one kind of master data. It is an advisory lock. The kernel releases it when its process ends, so nothing needs
cleaning up after a kill. ``work/queue/<what>/`` makes it fair: each process holds a locked ticket there and tries for
the lock only when no older ticket is alive. If a lock file is deleted or the file system loses the lock, ``epochs``
still keeps the second writer out.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wms_sync.durable import PRIVATE_FILE, accessing, make_private
from wms_sync.layout import Layout
from wms_sync.state.holders import POLL_SECONDS, UNKNOWN, WRITER, Held, Holder, Waiting, signed_by


class FileLock:
    """The locks of the data folder that ``layout`` describes."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    @contextmanager
    def hold(self, purpose: str, *, what: str = WRITER) -> Iterator[Held]:
        """Hold the lock on ``what`` inside the block. While another process is ahead, log who it is."""
        me, path = Holder.now(purpose), self._layout.lock(what)
        queue = make_private(self._layout.queue(what))
        ticket = queue / f"{time.time_ns():020d}-{me.process}"
        with _locked_ticket(ticket, me), _open(path) as lock:
            _wait_for_turn(path, ticket, lock)
            with accessing(path):
                _sign(lock, me)
            yield Held(me)

    def holder(self, *, what: str = WRITER) -> Holder | None:
        """Return who holds the lock on ``what``, None if nobody does. It never waits."""
        return _holder(self._layout.lock(what))

    @contextmanager
    def mark_running(self, run_id: str) -> Iterator[None]:
        """Keep a locked file of this run for the length of the block; ``is_running`` looks at it."""
        mark = self._layout.running(run_id)
        make_private(mark.parent)
        with _locked_ticket(mark, Holder.now(run_id)):
            yield

    def is_running(self, run_id: str) -> bool:
        """Return whether the process of this run is alive."""
        return _holder(self._layout.running(run_id)) is not None

    def clear(self, run_id: str) -> None:
        """Delete the file of a run that is not alive."""
        self._layout.running(run_id).unlink(missing_ok=True)


@contextmanager
def mark_alive(layout: Layout, name: str) -> Iterator[None]:
    """Keep a locked file of this name for the length of the block; if the process dies, ``dead_marks`` returns it."""
    with _locked_ticket(make_private(layout.alive) / name, Holder.now(name)):
        yield


def dead_marks(layout: Layout) -> Iterator[Path]:
    """Yield the marks whose process is gone, in order of name. The caller deletes the ones that it has handled."""
    return (mark for mark in sorted(layout.alive.glob("*")) if _holder(mark) is None)


def _wait_for_turn(path: Path, ticket: Path, lock: IO[bytes]) -> None:
    waiting = Waiting()
    while (ahead := _ahead(path, ticket, lock)) is not None:
        waiting.tell(ahead)
        time.sleep(POLL_SECONDS)


def _ahead(path: Path, mine: Path, lock: IO[bytes]) -> Holder | None:
    """Return who is ahead of us; None if the lock was free and is now ours."""
    for ticket in sorted(mine.parent.iterdir()):
        if ticket.name >= mine.name:
            break
        if (holder := _holder(ticket)) is not None:
            return _holder(path) or holder
        ticket.unlink(missing_ok=True)
    if _try_lock(lock):
        return None
    return _holder(path) or UNKNOWN


@contextmanager
def _locked_ticket(ticket: Path, me: Holder) -> Iterator[None]:
    with _open(ticket) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with accessing(ticket):
            _sign(file, me)
        try:
            yield
        finally:
            ticket.unlink(missing_ok=True)


def _open(path: Path) -> IO[bytes]:
    """Open a file without a buffer, which on a full disk would fail once more when it is closed."""
    with accessing(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        return open(descriptor, "r+b", buffering=0)  # noqa: PTH123 - for the mode


def _sign(file: IO[bytes], me: Holder) -> None:
    file.seek(0)
    file.truncate()
    file.write(me.signature.encode())
    file.flush()


def _try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _holder(path: Path) -> Holder | None:
    """Return who holds the lock on this file; None if nobody does."""
    try:
        with accessing(path), path.open("rb") as file:
            return None if _try_lock(file) else signed_by(file.read())
    except FileNotFoundError:
        return None
