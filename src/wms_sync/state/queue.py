"""Locks between the processes of one machine: first come, first served, and each process reports whom it waits for.

``work/<what>.lock`` is the lock on something that only one process at a time may do: write the tables (``writer``), or
push one kind of master data. It is an advisory lock. The kernel releases it when its process ends, so nothing needs
cleaning up after a kill. ``work/queue/<what>/`` makes it fair: each process holds a locked ticket there and tries for
the lock only when no older ticket is alive. If a lock file is deleted or the file system loses the lock, ``epochs``
still keeps the second writer out.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from wms_sync.durable import PRIVATE_FILE, accessing, make_private
from wms_sync.layout import Layout

logger = logging.getLogger(__name__)

WRITER = "writer"
POLL_SECONDS = 0.2
REMIND_SECONDS = 60.0


@dataclass(frozen=True)
class Holder:
    """A process that holds a lock or waits for it. ``purpose`` is for people: ``backfill 2026-01-01 to 2026-01-03``."""

    purpose: str
    process: int
    host: str
    since: str

    def __str__(self) -> str:
        return f"{self.purpose} (process {self.process} on {self.host}, since {self.since})"


UNKNOWN = Holder("a process that has just begun", 0, socket.gethostname(), "now")


@contextmanager
def hold_lock(layout: Layout, purpose: str, *, what: str = WRITER) -> Iterator[Holder]:
    """Hold the lock on ``what`` inside the block.

    While another process is ahead, log who it is: at once, and every ``REMIND_SECONDS``.
    """
    me = _me(purpose)
    queue = make_private(layout.queue(what))
    ticket = queue / f"{time.time_ns():020d}-{me.process}"
    with _locked_ticket(ticket, me), _open(layout.lock(what)) as lock:
        _wait_for_turn(layout.lock(what), ticket, lock)
        with accessing(layout.lock(what)):
            _sign(lock, me)
        yield me


def lock_holder(layout: Layout, *, what: str = WRITER) -> Holder | None:
    """Return who holds the lock on ``what``, None if nobody does. It never waits."""
    return _holder(layout.lock(what))


@contextmanager
def mark_alive(layout: Layout, name: str) -> Iterator[None]:
    """Keep a locked file of this name for the length of the block; if the process dies, ``dead_marks`` returns it."""
    with _locked_ticket(make_private(layout.alive) / name, _me(name)):
        yield


def dead_marks(layout: Layout) -> Iterator[Path]:
    """Yield the marks whose process is gone, in order of name. The caller deletes the ones that it has handled."""
    return (mark for mark in sorted(layout.alive.glob("*")) if _holder(mark) is None)


@contextmanager
def mark_running(layout: Layout, run_id: str) -> Iterator[None]:
    """Keep a locked file of this run for the length of the block, whoever started it; ``is_running`` looks at it."""
    mark = layout.running(run_id)
    make_private(mark.parent)
    with _locked_ticket(mark, _me(run_id)):
        yield


def is_running(layout: Layout, run_id: str) -> bool:
    """Return whether the process of this run is alive."""
    return _holder(layout.running(run_id)) is not None


def _me(purpose: str) -> Holder:
    return Holder(purpose, os.getpid(), socket.gethostname(), f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ}")


def _wait_for_turn(path: Path, ticket: Path, lock: IO[bytes]) -> None:
    reported: tuple[Holder, float] | None = None
    while (ahead := _ahead(path, ticket, lock)) is not None:
        now = time.monotonic()
        if reported is None or reported[0] != ahead or now - reported[1] > REMIND_SECONDS:
            logger.info("waiting for %(holder)s", {"holder": ahead})
            reported = ahead, now
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
    file.write(json.dumps(asdict(me)).encode())
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
            return None if _try_lock(file) else _read(file.read())
    except FileNotFoundError:
        return None


def _read(content: bytes) -> Holder:
    try:
        return Holder(**json.loads(content))
    except (ValueError, TypeError):
        return UNKNOWN
